#!/bin/sh
# Tests greet.sh: prints a line for each test, and fails if one of them has failed.
cd "$(dirname "$0")" || exit
. ./greet.sh

failed=0

# check TITLE WANT ARGUMENT... greets and compares.
check() {
  title=$1 want=$2
  shift 2
  got=$(greet "$@" 2>&1)
  sleep 0.2 # as slow as real tests, to be watched
  if [ "$got" = "$want" ]; then
    printf '\033[32mok\033[0m      %s\n' "$title"
  else
    printf '\033[31mnot ok\033[0m  %s: got "%s", want "%s"\n' "$title" "$got" "$want"
    failed=$((failed + 1))
  fi
}

check 'greets by name' 'Hello, Ada!' Ada
check 'greets the world' 'Hello, world!'
check 'takes an empty name for none' 'Hello, world!' ''
check 'keeps blanks in a name' 'Hello, Ada Lovelace!' 'Ada Lovelace'
check 'takes one name only' 'greet: more than one name' Ada Grace

if [ "$failed" -gt 0 ]; then
  printf '\033[31m%d failed\033[0m\n' "$failed"
  exit 1
fi
printf '\033[32mall passed\033[0m\n'
