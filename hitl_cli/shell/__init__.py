"""Command text -> what it would touch.

`reader.read` is the one question: every simple command that could run anywhere in the text, every file it would open, and an
`Opaque` with the reason in words for what cannot be proved.

    scan                    a linear look before anything is parsed
    lexer, substitutions    words as bash reads them          \\
    simple, redirections    commands of plain words            > text -> tree
    grammar, compound       statements as bash groups them    /
    words                   words cooked: literal or unknown
    variables, builtins, wrappers
                            what names, the shell's own commands, and programs that run others do
    programs/               the table of what the options and operands of programs do
    possible                what the text itself says of words that only the shell knows
    reader, statements, commands, call, operands
                            the tree walked into accesses
"""
