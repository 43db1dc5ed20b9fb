/// The web server of the simulated devices.
struct FleetServer: Sendable, Equatable {
    var host: String
    var port: Int
    /// Every so many pushes are clicked on, 0: none is. Negative: devices report nothing.
    var clickEvery: Int

    /// The value of a request's Host field (RFC 9110 section 7.2): an IPv6 address stands in brackets.
    var hostField: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
