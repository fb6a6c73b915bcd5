---The released host of this version of the plugin; written by `make release`, do not edit.
return {
  files = {},
}
