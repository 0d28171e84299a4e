# Completion of hitl for bash. Load it with `source`, or let `hitl --install-completion bash` do it.
_hitl() {
    local words=() word last=${COMP_WORDS[COMP_CWORD]} current prefix line value join=
    # bash splits at `:` and `=`; the program does not.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ( $word == [:=] || $join ) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
        [[ $word == [:=] ]] && join=1 || join=
    done
    current=${words[-1]}
    prefix=${current%"$last"}
    [[ $last == [:=] ]] && prefix=$current
    # The word as the program would get it: without a quote that is still open, without backslashes.
    local quote=
    [[ $current == [\"\']* ]] && quote=${current:0:1} && current=${current:1}
    [[ $quote ]] || current=${current//\\/}
    words[-1]=$current

    COMPREPLY=()
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        case $value in
            :files) compopt -o default; return ;;
            :dirs) compopt -o dirnames; return ;;
            '') continue ;;
        esac
        [[ $quote ]] || printf -v value '%q' "$value"
        COMPREPLY+=("${value#"$prefix"}")
    done < <(_HITL_COMPLETE=bash "${COMP_WORDS[0]}" "${words[@]}" 2>/dev/null)
}
complete -F _hitl hitl
