//go:build !wasip1

package fields

// describes says whether messages can be described. The plugin never is asked,
// so it does not carry what is said of each field.
const describes = true
