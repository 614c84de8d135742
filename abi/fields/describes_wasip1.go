package fields

const describes = false
