"""Programs that run whatever text they are given, by their words or their input. Data."""

from __future__ import annotations

from hitl_cli.shell.programs.table import word_set

INTERPRETERS = word_set(
    """python python2 python3 pypy pypy3 node nodejs deno bun ruby perl php lua luajit Rscript R julia tclsh expect
    osascript ghc runghc scala groovy clojure elixir erl swift java kotlin ed ex vi vim nvim emacs
    sqlite sqlite3 psql mysql mongo mongosh redis-cli gdb lldb jshell irb ipython jupyter m4 bc dc tsx ts-node guile
    racket sbcl clisp ocaml utop crystal nim raku perl6 gjs qjs d8 octave gnuplot maxima sage scilab amm luau janet
    emacsclient lua5 ruby3 perl5 php7 php8 tclsh8 pry"""
)
