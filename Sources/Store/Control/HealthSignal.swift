import PushCore

/// How a health signal is read.
package struct HealthSignal: Sendable, Hashable {
    /// The kinds of sources, as `pushmta.set_health_signal` names them.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// An address whose answer has the value.
        case http
        /// A query to a Prometheus server.
        case prometheus
        /// A function of the database.
        case sql
    }

    package var name: String
    package var kind: Kind
    /// The address, the address of Prometheus, or the call of a function.
    package var source: String
    /// http: a JSON pointer, `header:NAME`, or empty if the answer is the value; prometheus: the query.
    package var selector: String
    /// On which side of its target the value should stay.
    package var good: SignalController.Side
    /// The time between two reads, in seconds.
    package var intervalSeconds: Int32
    /// The longest time of a read, in milliseconds.
    package var timeoutMilliseconds: Int32
    /// How long after a change of a rate the value shows its effect, in seconds.
    package var reactionSeconds: Int32
    /// The age from which on a value says nothing, in seconds.
    package var staleAfterSeconds: Int32

    /// A signal with the defaults of `pushmta.set_health_signal`.
    package init(name: String, kind: Kind, source: String, selector: String = "", good: SignalController.Side = .below)
    {
        self.name = name
        self.kind = kind
        self.source = source
        self.selector = selector
        self.good = good
        intervalSeconds = 1
        timeoutMilliseconds = 1_000
        reactionSeconds = 5
        staleAfterSeconds = 10
    }

    /// The longest time of a read.
    package var timeout: Duration { .milliseconds(timeoutMilliseconds) }
}
