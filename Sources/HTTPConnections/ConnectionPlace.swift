/// What an accepted connection may be used for. Called on its event loop.
package protocol ConnectionPlace: Sendable {
    /// Whether it may now be used for everything.
    func isOrdinary() -> Bool
    /// Whether the client has shown that it uses the API.
    var isProven: Bool { get }
    /// Notes that the client has shown that it uses the API.
    func prove()
}
