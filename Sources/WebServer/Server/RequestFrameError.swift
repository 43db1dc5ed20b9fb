/// A request's head is HTTP, and still nothing that may be answered.
enum RequestFrameError: Error {
    /// It names no host, or several.
    case host
    /// It came over one of the last connections, which are the API's, and is for something else.
    case noRoom
}
