# Completion of hitl for fish. Put it into ~/.config/fish/completions, or let `hitl --install-completion fish` do it.
function __hitl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (_HITL_COMPLETE=fish $words[1] $words[2..-1] "$current" 2>/dev/null)
    switch "$lines[1]"
        case :files
            __fish_complete_path "$current"
        case :dirs
            __fish_complete_directories "$current"
        case '*'
            printf '%s\n' $lines
    end
end
complete -c hitl -f -k -a '(__hitl_complete)'
