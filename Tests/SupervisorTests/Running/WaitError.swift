/// What a test waited for has not happened.
struct WaitError: Error, CustomStringConvertible {
    let description: String
}
