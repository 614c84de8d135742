package record

const nonBlocking = 0

func noReader(error) bool { return false }
