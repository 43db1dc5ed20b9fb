import HTTP2

/// What distinguishes one gateway from the other; one value per event loop, with whatever it caches.
protocol GatewayRules: SendableMetatype {
    /// What the rules remember of one connection.
    associatedtype ConnectionState

    static var gateway: SimulatedGateway { get }

    /// A connection that has just been opened.
    static func newConnection() -> ConnectionState

    /// The stream limit that the connection should have now, faults aside.
    static func streamLimit(_ state: ConnectionState) -> UInt32

    /// Judges the certificate that a sender has shown, in DER; returns the debug data of the GOAWAY that refuses it.
    mutating func admit(_ certificate: [UInt8]?, _ state: inout ConnectionState) -> [UInt8]?

    /// Checks a request.
    mutating func judge(_ request: HTTP2ServerRequest, _ state: inout ConnectionState, now: Int64) -> Judgement

    /// Notes what an answer does to the connection; true when the stream limit may have changed.
    static func settled(_ code: UInt8, _ state: inout ConnectionState, limitDrops: Bool) -> Bool

    /// Answers a request; the id is the sender's own, or empty.
    mutating func respond(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    )

    /// Takes over devices and the state of the credentials.
    mutating func apply(_ conditions: GatewayConditions)
}

extension GatewayRules {
    /// Senders need no certificate.
    mutating func admit(_ certificate: [UInt8]?, _ state: inout ConnectionState) -> [UInt8]? { nil }
}
