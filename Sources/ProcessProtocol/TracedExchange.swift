/// A request and its answer, without secrets, and masked unless the trace is unmasked.
package struct TracedExchange: Sendable, Codable, Equatable {
    package struct Field: Sendable, Codable, Equatable {
        /// The lower-case name; pseudo-header fields begin with a colon.
        package var name: String
        package var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What was sent or received.
    package struct Part: Sendable, Codable, Equatable {
        /// The header fields, in their order.
        package var headers: [Field]
        /// The body; empty without one.
        package var body: String

        package init(headers: [Field], body: String) {
            self.headers = headers
            self.body = body
        }
    }

    /// When it ended, in milliseconds since 1970 by the clock of the host.
    package var at: Int64
    package var delivery: Int64
    /// The hash of the push token.
    package var tokenHash: String
    /// What was sent.
    package var request: Part
    /// The answer; nil if there was none.
    package var answer: Part?
    /// Why there was no answer.
    package var failure: String?
    /// From writing the request to the end of the exchange.
    package var latencyMicroseconds: UInt32

    /// Creates an exchange without an answer.
    package init(at: Int64, delivery: Int64, tokenHash: String, request: Part, latencyMicroseconds: UInt32) {
        self.at = at
        self.delivery = delivery
        self.tokenHash = tokenHash
        self.request = request
        self.latencyMicroseconds = latencyMicroseconds
    }
}
