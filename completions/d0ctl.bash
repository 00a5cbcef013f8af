
_d0ctl_completion() {
    local IFS=$'
'
    COMPREPLY=( $( env COMP_WORDS="${COMP_WORDS[*]}" \
                   COMP_CWORD=$COMP_CWORD \
                   _D0CTL_COMPLETE=complete_bash $1 ) )
    if [[ ${COMPREPLY[0]} == : ]]; then COMPREPLY=(); compopt +o default; fi
    return 0
}

complete -o default -F _d0ctl_completion d0ctl

