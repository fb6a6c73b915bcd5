# Greets whoever is named, or else the world.
greet() {
  if [ $# -gt 1 ]; then
    echo 'greet: more than one name' >&2
    return 2
  fi
  echo "Hello, ${1:-world}!"
}
