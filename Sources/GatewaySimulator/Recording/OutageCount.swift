/// What came to a gateway while it was out, by the second: of the outage that lasts, or of the last one.
public struct OutageCount: Sendable, Codable, Equatable {
    /// Requests, in each second since the outage began.
    public var requests: [Int] = []
    /// Connections that were accepted, whatever became of them. Where the port is closed there are none.
    public var dials: [Int] = []
    /// Requests to the endpoint of access tokens.
    public var tokenRequests: [Int] = []

    enum CodingKeys: String, CodingKey {
        case requests, dials
        case tokenRequests = "token_requests"
    }

    /// Counts without anything.
    public init() {}
}

/// Counts what comes while a gateway is out.
struct OutageMeter: Sendable {
    /// Longer outages are counted to this second: a day.
    private static let mostSeconds = 86_400

    private(set) var count = OutageCount()
    private let start = ContinuousClock.now
    /// Whether the outage still lasts.
    var isRunning = true

    /// Counts in the second that runs.
    mutating func add(_ number: Int, to counts: WritableKeyPath<OutageCount, [Int]>) {
        let second = Int((ContinuousClock.now - start) / .seconds(1))
        guard isRunning, number > 0, second < Self.mostSeconds else { return }
        while count[keyPath: counts].count <= second { count[keyPath: counts].append(0) }
        count[keyPath: counts][second] += number
    }
}
