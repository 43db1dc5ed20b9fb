import HTTP2

/// What distinguishes one gateway from another. There is one value per event loop, including its caches.
protocol GatewayRules: SendableMetatype {
    /// The rules' state for one connection.
    associatedtype ConnectionState

    static var gateway: SimulatedGateway { get }

    /// The state of a new connection.
    static func newConnection() -> ConnectionState

    /// The stream limit that the connection should currently have, apart from faults.
    static func streamLimit(_ state: ConnectionState) -> UInt32

    /// Judges a sender's certificate, in DER. To refuse it, returns the debug data of the GOAWAY.
    mutating func admit(_ certificate: [UInt8]?, _ state: inout ConnectionState) -> [UInt8]?

    mutating func judge(_ request: HTTP2ServerRequest, _ state: inout ConnectionState, now: Int64) -> Judgement

    /// Notes an answer's effect on the connection. Returns true if the stream limit may have changed.
    static func answered(_ code: UInt8, _ state: inout ConnectionState, limitDrops: Bool) -> Bool

    /// Answers a request. The id is the sender's own, or empty.
    mutating func respond(
        _ judgement: Judgement,
        id: ArraySlice<UInt8>,
        streamID: Int32,
        on connection: HTTP2ServerConnection
    )

    /// Applies the devices' states and the credentials' state.
    mutating func apply(_ conditions: GatewayConditions)
}

extension GatewayRules {
    /// By default, senders need no certificate.
    mutating func admit(_ certificate: [UInt8]?, _ state: inout ConnectionState) -> [UInt8]? { nil }
}
