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

    mutating func judge(_ request: HTTP2ServerRequest, _ state: inout ConnectionState, now: Int64) -> Judgement

    /// Notes what an answer does to the connection; true when the stream limit may have changed.
    static func answered(_ code: UInt8, _ state: inout ConnectionState, limitDrops: Bool) -> Bool

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

/// What the rules of a gateway say about one request.
struct Judgement {
    var key: MessageKey
    var tokenHash: UInt32
    /// The code of the answer in the gateway's catalog; 0 accepts.
    var code: UInt8
    /// Where the sender's own id stands in the header bytes; nil when the gateway has made one.
    var senderID: Range<Int>?
    /// For APNs' 410: since when, in milliseconds since 1970.
    var sinceMilliseconds: Int64 = 0
    /// The value of a Retry-After header.
    var retryAfter: String?
    /// For FCM: message and field of an error.
    var detail: RejectionDetail?
    /// What is done instead of accepting it; nil for nothing.
    var scripted: ScriptedAnswer?
    /// A dry run leaves no record.
    var isRecorded = true

    var isAccepted: Bool { code == AnswerCatalog.accepted }
}

/// The details of one FCM rejection, boxed so that an accepted push carries a single nil word for it.
final class RejectionDetail: Sendable {
    let rejection: FCMRejection

    init(_ rejection: FCMRejection) {
        self.rejection = rejection
    }
}
