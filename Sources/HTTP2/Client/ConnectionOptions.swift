/// Options of a client's connections to one server, independent of the protocol.
package struct ConnectionOptions: Sendable, Hashable {
    /// The maximum number of connections, at least 1.
    package var count: Int
    /// The minimum number; by default the maximum. Between the two, an HTTP/2 client opens what rate and latency
    /// require, see ``ConnectionSetSize``.
    package var fewest: Int
    /// A request without a response for this long is cancelled and counts as ambiguous. FCM recommends at least 10 s.
    package var requestTimeoutMilliseconds: Int64
    /// The time limit until a connection can take requests: for DNS, TCP, TLS and, with HTTP/2, the first SETTINGS
    /// frame together.
    package var connectTimeoutMilliseconds: Int64
    /// The first pause between attempts to connect; it doubles up to the maximum, with jitter.
    package var firstBackOffMilliseconds: Int64 = 1_000
    /// At most 5 s, so that sending resumes soon after the server recovers. In a long outage only one process of all
    /// hosts keeps dialling.
    package var maxBackOffMilliseconds: Int64 = 5_000

    package init(count: Int = 1, requestTimeoutMilliseconds: Int64, connectTimeoutMilliseconds: Int64) {
        self.count = count
        fewest = count
        self.requestTimeoutMilliseconds = requestTimeoutMilliseconds
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }
}
