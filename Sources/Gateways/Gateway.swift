// Gateways: the ways to APNs and FCM. Batches of messages go in, the outcome of each message comes out.
//
// WHAT IT DOES
//   Speaks APNs over HTTP/2 and FCM HTTP v1 (HTTP2Gateway with a GatewayDialect each), APNs' binary protocol
//   (APNsBinaryGateway) and FCM's legacy protocol (FCMLegacyGateway). Says of each answer what it means, by a row of the
//   answer table. Reads and opens credentials, makes provider tokens and fetches access tokens, and reads the binary
//   gateway's feedback service.
//
// HOW IT IS USED
//   MTAChild makes a gateway with GatewayFactory.make(...) and calls start(), submit(_:) as often as it likes, and shutdown()
//   at the end. The owner is a GatewayDelegate: aboutToSend(_:) before messages get streams, and a no keeps them;
//   resolved(...) for what one read brought; gatewayEvent(_:) for what concerns more than a message. Each message of a batch
//   is resolved exactly once. FeedbackWorker uses feedbackReader(...), the commands use accounts, credentials and the answer
//   table, and the web process the key of the credentials. trace(with:) shows HTTP/2 exchanges to a GatewayTracer, as
//   copies that give their secrets to nobody (CopiedExchange, TraceMask).
//
// THREADS AND TASKS
//   All of a gateway happens on the event loop that it was given, the calls of the delegate as well: who blocks there stops
//   the sending. submit, cancelQueued, retryNow and giveUp may be called from any thread and hop once. Access tokens and
//   legacy FCM go through libcurl's threads; that of legacy FCM waits for the event loop's answer whether a request may
//   leave.
//
// STATE AND FILES
//   Memory only: what waits, what is on the wire, tokens. It reads the account's CA file and the credentials' key file.
//   Nothing of it survives a kill; what was on the wire is in the owner's journal.
//
// FAILURES
//   Unreachable gateway or token endpoint: a GatewayEvent, and it tries again with growing pauses up to 5 s; messages wait. A
//   connection that breaks makes ambiguous what was written and not answered, and unprocessed what was not. No answer within
//   the timeout: ambiguous. A credential that cannot be used: an error at make or start. A reason that no row knows is kept
//   word for word and classed by its status. It never sends a message again by itself, and it has no log: what there is to
//   say is an event or an error.
//
// SETTINGS
//   nmac.relay.trustedCertsChain, nmac.useHTTPProxy, nmac.proxyHTTP.*, nmac.binary.*, mta.child.requestTimeoutSec and
//   connectTimeoutSec, credentialKeyFile; of an external account host, port and options (GatewayAccount).
//
// SEE ALSO
//   GatewayFactory.swift, HTTP2/GatewayEngine.swift, HTTP2/GatewayDialect.swift, APNsBinary/BinaryPool.swift,
//   FCMLegacy/FCMLegacyEngine.swift, Answers/AnswerTable.swift, Tokens/AccessTokenRefresh.swift, Config/answers.md

import PushCore
import Synchronization

/// A way to a push gateway: batches of messages in, the outcome of each message out.
///
/// A gateway dials and redials by itself, never repeats a message by itself, and resolves every message of a submitted
/// batch exactly once through its ``GatewayDelegate``.
public protocol Gateway: AnyObject, Sendable {
    /// The form in which it takes bodies.
    var payloadFormat: PayloadFormat { get }

    /// What one request may carry.
    var limits: GatewayLimits { get }

    /// Whether a message is taken when nothing is said about it: then a connection that comes about is all that shows that the gateway is
    /// well, and one that ends says nothing against it.
    var takesInSilence: Bool { get }

    /// The project of FCM that messages count for; nil if the gateway sets no rate for a whole project.
    var project: String? { get }

    /// Begins to connect.
    ///
    /// - Throws: what makes every attempt useless, for example a CA file that cannot be read. An unreachable gateway is a
    ///   ``GatewayEvent`` instead, and is tried again.
    func start() async throws

    /// Queues a batch; may be called from any thread and costs one hop to the gateway's event loop.
    func submit(_ batch: GatewayRequestBatch)

    /// Gives back every message that has not been written yet as *unprocessed*.
    func cancelQueued()

    /// Ends the pauses between attempts to reach the gateway and its token endpoint: somebody has put right what was wrong.
    func retryNow()

    /// Returns the gateway's figures now.
    func status() async -> GatewayStatus

    /// Asks over all open connections whether the gateway is there, and ends those on which nothing comes back in time.
    ///
    /// Returns whether one of them has answered; nil if none is open, or the protocol has no such question.
    func ping(timeout: Duration) async -> Bool?

    /// Shows what is on the wire to somebody from now on, or to nobody any more.
    ///
    /// - Returns: false if the gateway's protocol cannot be shown.
    func trace(with tracer: (any GatewayTracer)?) -> Bool

    /// Waits no longer for answers to what was sent longer ago than that: it is ambiguous now, and takes no room from what is sent next.
    func giveUp(olderThan age: Duration)

    /// Gives back what waits as *unprocessed*, lets what is on the wire resolve until its deadline, and disconnects.
    func shutdown() async
}

extension Gateway {
    /// The gateway sets no rate for a whole project.
    public var project: String? { nil }

    /// Every message is answered.
    public var takesInSilence: Bool { false }

    /// The protocol cannot be shown.
    public func trace(with tracer: (any GatewayTracer)?) -> Bool { false }

    /// The protocol waits for nothing that takes room from others.
    public func giveUp(olderThan age: Duration) {}

    /// The protocol has no such question.
    public func ping(timeout: Duration) async -> Bool? { nil }
}

/// What a gateway tells its owner; every method is called on the gateway's event loop.
public protocol GatewayDelegate: AnyObject, Sendable {
    /// Messages are about to leave: one call for all that a connection gets at once, before a byte of them is written.
    ///
    /// Each message is announced before each time that it leaves; there are never more than the connection has free streams.
    /// A message that is announced and then does not leave after all has an unprocessed outcome, as every other one.
    /// Batches that the owner submits meanwhile wait.
    ///
    /// - Returns: false if they must not leave: they, and all that waits for a stream behind them, are resolved as unprocessed
    ///   with `neverLeft`, after this call. An owner that submits them again at once will be asked again at once.
    func aboutToSend(_ departures: [GatewayDeparture]) -> Bool

    /// Messages of a batch have their outcomes.
    ///
    /// Called once for each read and batch, before the stream slots of these messages are used again.
    ///
    /// - Parameters:
    ///   - outcomes: one for each resolved message, in the order in which they were resolved.
    ///   - latencyMicroseconds: for each of the outcomes the time from writing the request to its end; 0 if it was never
    ///     written.
    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32])

    /// Messages of several batches have their outcomes: all that one read brought, as the method for one batch says.
    ///
    /// What has to be done for each call costs a part of what it costs for each batch, and where latencies differ a read brings answers of
    /// many.
    func resolved(_ batches: [ResolvedBatch])

    /// Messages of a batch have their outcomes; for owners that do not ask for latencies.
    func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome])

    /// So many messages may be on the wire at once now, over all connections.
    func capacityChanged(_ streams: Int)

    /// The gateway has said in words why it refuses messages for good.
    func refused(_ texts: Set<RefusalText>)

    /// Something happened that concerns more than a message: the gateway, its connections, or the whole application.
    func gatewayEvent(_ event: GatewayEvent)
}

extension GatewayDelegate {
    /// Does nothing, for owners that keep a window of one size.
    public func capacityChanged(_ streams: Int) {}

    /// Does nothing, for owners that have no use for words.
    public func refused(_ texts: Set<RefusalText>) {}

    /// Takes one batch after the other.
    public func resolved(_ batches: [ResolvedBatch]) {
        for batch in batches { resolved(batch.batch, batch.outcomes, latencyMicroseconds: batch.latencies) }
    }

    /// Lets all messages leave.
    public func aboutToSend(_ departures: [GatewayDeparture]) -> Bool { true }

    /// Leaves the latencies out.
    public func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome], latencyMicroseconds: [UInt32]) {
        resolved(batch, outcomes)
    }

    /// Does nothing, for owners that take outcomes together with latencies.
    public func resolved(_ batch: GatewayRequestBatch, _ outcomes: [Outcome]) {}
}

/// What a gateway says in words of a message that it refuses for good.
public struct RefusalText: Sendable, Hashable {
    public let deliveryID: Int64
    /// The gateway's reason.
    public let reason: String
    /// Its words. What it quotes may be a value of the message, and is left out.
    public let words: String

    /// The words of an answer.
    public init(deliveryID: Int64, reason: String, words: String) {
        self.deliveryID = deliveryID
        self.reason = reason
        self.words = Self.withoutQuotes(words)
    }

    /// The text with an ellipsis for what stands between quotation marks.
    static func withoutQuotes(_ text: String) -> String {
        let pieces = text.split(separator: "\"", omittingEmptySubsequences: false)
        guard pieces.count > 1 else { return text }
        // A mark without its second one: the quote was cut off.
        return pieces.indices.map { $0.isMultiple(of: 2) ? String(pieces[$0]) : "\"…\"" }.joined()
    }
}

/// Messages of a batch that are about to get streams.
public struct GatewayDeparture: Sendable {
    /// The batch that the messages belong to.
    public var batch: GatewayRequestBatch
    /// Their rows: not empty, without overlaps, in the order in which they leave, which need not be that of the rows.
    public var ranges: [Range<Int32>]
}

/// Something that concerns a gateway or the whole application, not one message.
public struct GatewayEvent: Sendable, Hashable, CustomStringConvertible {
    /// What kind of event it is.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// A connection is ready for messages.
        case connected
        /// The gateway or the token endpoint is reachable and willing again after trouble.
        case recovered
        /// No connection came about; the gateway tries again by itself.
        case unreachable
        /// The TLS handshake failed, mostly because the certificate is not trusted.
        case untrusted
        /// A connection ended before its time; the gateway dials again by itself.
        case connectionLost
        /// Messages were reported as accepted because nothing was heard of them, and were not, or nothing proves that they were.
        case unproved
        /// The gateway announced the end of a connection.
        case goAway
        /// No access token could be fetched; the gateway tries again by itself and messages wait.
        case tokenUnavailable
        /// A token for the gateway was made or fetched.
        case tokenRenewed
        /// Every message of the application would be refused until an operator acts.
        case applicationStopped
        /// The gateway wants less from the whole project for a while; whoever hears it pauses the application.
        case applicationThrottled
    }

    /// What kind of event it is.
    public var kind: Kind
    /// The gateway's own reason, word for word; empty when there is none.
    public var reason: String
    /// The HTTP status that came with it; 0 for none.
    public var status: Int16
    /// What happened, to which gateway, why, and what to do.
    public var message: String
    /// The same without what holds for a moment only (which attempt it was, when the next one follows): what is shown as long as it lasts.
    public var standing: String
    /// When the gateway tries again, in milliseconds from now; nil when it does not or already does.
    public var retryInMilliseconds: Int64?

    public init(
        _ kind: Kind,
        reason: String = "",
        status: Int16 = 0,
        message: String,
        standing: String? = nil,
        retryInMilliseconds: Int64? = nil
    ) {
        self.standing = standing ?? message
        self.kind = kind
        self.reason = reason
        self.status = status
        self.message = message
        self.retryInMilliseconds = retryInMilliseconds
    }

    public var description: String { message }
}

/// Messages with equal attributes, as columns of equal length; a message's index is its row.
public final class GatewayRequestBatch: Sendable {
    /// A number of the caller's, to find what the batch belongs to.
    public let id: Int64
    /// The message ids; APNs gets them as `apns-id`.
    public let messageIDs: [MessageUUID]
    /// What all messages share.
    public let attributes: MessageAttributes
    /// Whether it goes before what waits for a stream, where the gateway has streams.
    public let isUrgent: Bool
    /// The delivery that the messages are of; 0 where nobody asks.
    public let deliveryID: Int64
    /// Since when its messages are due, in milliseconds since 1970 on the database's clock; 0 where it is not measured.
    public let dueMilliseconds: Int64

    private let content: Mutex<Content>

    /// What messages have of their own, and what is only needed until they have been sent for the last time.
    private struct Content {
        var tokens: ByteColumn
        var bodies: ByteColumn
        var collapseIDs: ByteColumn?
    }

    /// The push tokens; empty for messages that were let go of.
    public var tokens: ByteColumn { content.withLock(\.tokens) }

    /// The rendered bodies, without what the gateway adds itself; empty for messages that were let go of.
    public var bodies: ByteColumn { content.withLock(\.bodies) }

    /// A collapse id for each message, null for none; nil when ``attributes`` say all there is.
    public var collapseIDs: ByteColumn? { content.withLock(\.collapseIDs) }

    public var count: Int { messageIDs.count }

    /// About the memory that it holds.
    public var byteCount: Int {
        content.withLock { $0.tokens.bytes.count + $0.bodies.bytes.count }
            + count * (MemoryLayout<MessageUUID>.stride + 2 * MemoryLayout<Int32>.stride)
    }

    /// Lets go of tokens, bodies and collapse ids of all other messages: those have been sent for the last time.
    /// - Parameter rows: ascending.
    public func keepOnly(_ rows: [Int32]) {
        content.withLock {
            $0 = Content(
                tokens: $0.tokens.emptied(but: rows),
                bodies: $0.bodies.emptied(but: rows),
                collapseIDs: $0.collapseIDs?.emptied(but: rows)
            )
        }
    }

    /// Makes a batch.
    ///
    /// Columns of different lengths are a programming error.
    public init(
        id: Int64,
        tokens: ByteColumn,
        messageIDs: [MessageUUID],
        bodies: ByteColumn,
        attributes: MessageAttributes,
        collapseIDs: ByteColumn? = nil,
        isUrgent: Bool = false,
        deliveryID: Int64 = 0,
        dueMilliseconds: Int64 = 0
    ) {
        precondition(
            messageIDs.count == tokens.count && bodies.count == tokens.count
                && (collapseIDs?.count ?? tokens.count) == tokens.count,
            "all columns of a batch have one row for each message"
        )
        self.id = id
        self.messageIDs = messageIDs
        self.attributes = attributes
        content = Mutex(Content(tokens: tokens, bodies: bodies, collapseIDs: collapseIDs))
        self.isUrgent = isUrgent
        self.deliveryID = deliveryID
        self.dueMilliseconds = dueMilliseconds
    }
}

/// A gateway's figures at one moment.
public struct GatewayStatus: Sendable, Hashable {
    /// Connections that are ready for messages.
    public var connections: Int
    /// Messages on the wire without an answer.
    public var streamsInFlight: Int
    /// Messages that wait for a stream, a connection or an access token.
    public var queued: Int
    /// How many messages may be on the wire at once, over all connections.
    public var streamLimit: Int

    /// How many connections it wants to have; as many as are ready where the number is fixed.
    public var wanted: Int
    /// Why so many, in a word; empty where the number is fixed.
    public var reason: String
    /// The most that it may have; as many as it wants where the number is fixed.
    public var most: Int

    /// Makes figures; what is left out is 0.
    public init(
        connections: Int = 0,
        streamsInFlight: Int = 0,
        queued: Int = 0,
        streamLimit: Int = 0,
        wanted: Int? = nil,
        reason: String = "",
        most: Int? = nil
    ) {
        self.connections = connections
        self.wanted = wanted ?? connections
        self.most = most ?? wanted ?? connections
        self.reason = reason
        self.streamsInFlight = streamsInFlight
        self.queued = queued
        self.streamLimit = streamLimit
    }
}

/// What one request to a gateway may carry.
public struct GatewayLimits: Sendable, Hashable {
    /// The largest payload in bytes; for APNs that of all push types but `voip`, see ``PushCore/PayloadLimits``.
    public var maxPayloadBytes: Int
    /// The most messages that one request carries, 1 or more.
    public var maxMessagesPerRequest: Int

    public init(maxPayloadBytes: Int, maxMessagesPerRequest: Int = 1) {
        self.maxPayloadBytes = maxPayloadBytes
        self.maxMessagesPerRequest = maxMessagesPerRequest
    }
}
