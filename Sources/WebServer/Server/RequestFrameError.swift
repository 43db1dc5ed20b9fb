/// A request's head is HTTP, and still nothing that may be answered.
enum RequestFrameError: Error {
    /// It names no host, or several.
    case host
}
