/// A consumer of events to create.
package struct NewConsumer: Sendable, Hashable {
    package var name: String
    /// The kinds of events that it wants; nil for all.
    package var kinds: [String]?
    /// The service whose events it wants; nil for all.
    package var service: String?
    /// For how long it may be away without losing events.
    package var maxAgeSeconds: Int64
    /// How many bytes of events it may be behind without losing some.
    package var maxBytes: Int64
    /// Who alone reads it: a role of the database, whose members may, or `key:` and the name of an API key; nil for
    /// all who may read events.
    package var reader: String?

    /// How many seconds it may be away.
    package static let ages: ClosedRange<Int64> = 60...2_592_000
    /// The least number of bytes that it may be behind.
    package static let minBytes: Int64 = 1_048_576

    /// A consumer with the usual bounds: three days and 10 GiB.
    package init(
        name: String,
        kinds: [String]? = nil,
        service: String? = nil,
        maxAgeSeconds: Int64 = 259_200,
        maxBytes: Int64 = 10_737_418_240,
        reader: String? = nil
    ) {
        self.name = name
        self.kinds = kinds
        self.service = service
        self.maxAgeSeconds = maxAgeSeconds
        self.maxBytes = maxBytes
        self.reader = reader
    }
}
