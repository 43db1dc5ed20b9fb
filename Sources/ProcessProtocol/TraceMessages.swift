/// What people ask of a supervisor to see requests and answers on the wire: one line on its socket.
public struct TraceRequest: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// The application whose messages are shown.
    public var applicationID: Int32
    /// Its name, for the logs.
    public var application: String
    /// Only messages to the push token with this SHA-256 hash, hexadecimal digits; nil for all.
    public var tokenHash: String?
    /// Only messages of this delivery; nil for all.
    public var deliveryID: Int64?
    /// Samples a second and child.
    public var perSecond: Int
    /// After how many seconds it ends; at most ``TraceLimits/longestSeconds``.
    public var seconds: Int
    /// Whether texts of messages and values of fields are shown, which is on record in the audit log.
    public var isUnmasked: Bool
    /// Who asks, for the audit log.
    public var person: String

    /// Asks for all messages of an application.
    public init(applicationID: Int32, application: String, person: String) {
        version = ProtocolVersion.current
        self.applicationID = applicationID
        self.application = application
        self.person = person
        perSecond = TraceLimits.usualPerSecond
        seconds = TraceLimits.longestSeconds
        isUnmasked = false
    }

    /// What cannot be done of it, in words; nil if all can.
    public var problem: String? {
        if !(1...TraceLimits.mostPerSecond).contains(perSecond) {
            return "\(perSecond) samples a second cannot be had: ask for 1 to \(TraceLimits.mostPerSecond)"
        }
        if !(1...TraceLimits.longestSeconds).contains(seconds) {
            return "a trace cannot last \(seconds) s: ask for 1 to \(TraceLimits.longestSeconds)"
        }
        return nil
    }
}

/// How much may be traced, so that a trace costs next to nothing and ends by itself.
public enum TraceLimits {
    /// More than anybody reads, and some 1.5 % of a core: an exchange costs about 150 µs to copy, mask and write, nearly all of it beside the
    /// event loop.
    public static let mostPerSecond = 100
    /// Half a percent of a core: to hash a token costs some 250 ns.
    public static let mostHashesPerSecond = 20_000
    /// What a person can follow.
    public static let usualPerSecond = 10
    /// Nobody looks for longer; a window that was forgotten costs nothing from then on.
    public static let longestSeconds = 3_600
    /// Traces that one supervisor serves at once.
    public static let mostTraces = 4
    /// A child ends a trace that was not renewed for so many seconds: whoever wanted it may be gone without a word.
    public static let orderSeconds = 10
    /// So often a supervisor renews its orders: two may be lost.
    public static let renewalSeconds = 3
    /// A line with more bytes is not shown: the other side would not take it.
    public static let longestLine = 60_000
}

/// What a supervisor asks of its children for one trace.
public struct TraceOrder: Sendable, Codable, Equatable {
    /// The number of the trace, as reports about it have it.
    public var id: Int64
    /// For how many seconds it goes on from now; 0 ends it.
    public var seconds: Int
    /// See ``TraceRequest``.
    public var tokenHash: String?
    /// See ``TraceRequest``.
    public var deliveryID: Int64?
    /// See ``TraceRequest``.
    public var perSecond: Int
    /// See ``TraceRequest``.
    public var isUnmasked: Bool

    /// The order for a request.
    public init(id: Int64, _ request: TraceRequest) {
        self.id = id
        seconds = TraceLimits.orderSeconds
        tokenHash = request.tokenHash?.lowercased()
        deliveryID = request.deliveryID
        perSecond = request.perSecond
        isUnmasked = request.isUnmasked
    }

    /// The order that ends it.
    public var ending: TraceOrder {
        var order = self
        order.seconds = 0
        return order
    }
}

/// What a child says of one trace: an exchange, or how many there were.
public struct TraceReport: Sendable, Codable, Equatable {
    /// The number of the trace.
    public var trace: Int64
    /// What was on the wire.
    public var exchange: TracedExchange?
    /// How many there were since the trace began in this child.
    public var counts: TraceCounts
    /// Why this child shows nothing, if so.
    public var notice: String?

    public init(trace: Int64, counts: TraceCounts, exchange: TracedExchange? = nil, notice: String? = nil) {
        self.trace = trace
        self.counts = counts
        self.exchange = exchange
        self.notice = notice
    }
}

/// How many exchanges there were that somebody asked for.
public struct TraceCounts: Sendable, Codable, Equatable {
    /// All that were handed to the wire, the shown ones among them.
    public var matched: Int64 = 0
    /// Those that were to be shown and found no room; the sending waited for none of them.
    public var lost: Int64 = 0
    /// Those of which nobody knows whether they were asked for, as looking at so many push tokens would have slowed the sending.
    public var unchecked: Int64 = 0

    public init() {}
}

/// A request and its answer, as people may see them: without secrets, and masked if nobody asked for more.
public struct TracedExchange: Sendable, Codable, Equatable {
    public struct Field: Sendable, Codable, Equatable {
        /// The lower-case name; pseudo-header fields begin with a colon.
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What was sent or came back.
    public struct Part: Sendable, Codable, Equatable {
        /// The header fields, in their order.
        public var headers: [Field]
        /// The body; empty without one.
        public var body: String

        public init(headers: [Field], body: String) {
            self.headers = headers
            self.body = body
        }
    }

    /// When it ended, in milliseconds since 1970 by the clock of the host.
    public var at: Int64
    public var delivery: Int64
    /// The hash of the push token.
    public var tokenHash: String
    /// What was sent.
    public var request: Part
    /// What came back; nil if nothing did.
    public var answer: Part?
    /// Why nothing came back.
    public var failure: String?
    /// From writing the request to its end.
    public var latencyMicroseconds: UInt32

    /// Makes an exchange that was not answered.
    public init(at: Int64, delivery: Int64, tokenHash: String, request: Part, latencyMicroseconds: UInt32) {
        self.at = at
        self.delivery = delivery
        self.tokenHash = tokenHash
        self.request = request
        self.latencyMicroseconds = latencyMicroseconds
    }
}

/// One line from a supervisor to whoever traces.
public struct TraceLine: ProtocolMessage, Equatable {
    /// The version of the protocol.
    public var version: Int
    /// The child that it is about; nil for the supervisor itself.
    public var child: Int64?
    /// What was on the wire.
    public var exchange: TracedExchange?
    /// What the child has counted so far.
    public var counts: TraceCounts?
    /// How many lines were not written since the one before, as the reader was too slow for them.
    public var missed: Int64?
    /// Something to know.
    public var notice: String?
    /// Why nothing is traced, or nothing more; the last line.
    public var end: String?
    /// Whether ``end`` is a refusal.
    public var isRefused: Bool?

    /// A line about a child.
    public init(child: Int64?, _ report: TraceReport) {
        version = ProtocolVersion.current
        self.child = child
        exchange = report.exchange
        counts = report.counts
        notice = report.notice
    }

    /// A line of the supervisor's own.
    public init(notice: String) {
        version = ProtocolVersion.current
        self.notice = notice
    }

    /// The last line.
    public init(end: String, isRefused: Bool = false) {
        version = ProtocolVersion.current
        self.end = end
        if isRefused { self.isRefused = true }
    }
}
