import HTTP2
import PushCore

/// What distinguishes one HTTP/2 gateway from another; used on the gateway's event loop.
protocol GatewayDialect: AnyObject {
    /// The gateway's name in texts.
    var name: String { get }

    /// The meaning of the gateway's answers.
    var answers: GatewayAnswers { get }

    /// Whether a connection must not change its token, so that a new token requires new connections.
    var bindsTokenToConnection: Bool { get }

    /// Prepares to send. `onChange` is called when waiting messages can leave or must be returned.
    func start(onChange: @escaping (AccessTokenRefresh.Change) -> Void)

    /// Ends the pause between attempts to fetch its authorization, if there is one.
    func retryNow()

    /// Stops its own activities.
    func stop()

    /// Whether messages can be sent now.
    func authorization() -> Authorization

    /// Makes requests for messages.
    ///
    /// - Parameters:
    ///   - rows: the rows of the batch to send; nil for all.
    ///   - tag: gives a new tag for each request batch.
    func flights(
        _ batch: GatewayRequestBatch,
        rows: [Int32]?,
        token: AuthorizationToken,
        tag: () -> Int64
    ) -> [Flight]

    /// The outcome of a message that was answered with 200; nil if the answer is not the gateway's.
    func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome?

    /// The outcome of a message that was not accepted, and its consequences.
    func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Decision

    /// Replaces the token of this generation, which the gateway refused.
    ///
    /// - Parameter row: the meaning of the gateway's answer; changed if there can be no other token.
    /// - Returns: whether waiting requests carry the old token and have to be built again.
    func tokenRejected(generation: Int, _ row: inout AnswerRow) -> Bool

    /// The reason that a GOAWAY gives, and its meaning.
    func goAway(debugData: [UInt8]) -> (reason: String, row: AnswerRow)
}

/// Messages of one batch that were handed to the HTTP/2 client together.
final class Flight {
    let batch: GatewayRequestBatch
    /// The messages' rows in their batch, in the order of the requests; nil when request and row numbers are the same.
    let rows: [Int32]?
    /// The generation of the token that the requests carry.
    let generation: Int
    let requests: HTTP2RequestBatch
    /// Requests that have not ended yet.
    var open: Int
    /// The traces that want to see a request, for the few that are traced.
    var watched: [Int32: [Int64]] = [:]

    init(batch: GatewayRequestBatch, rows: [Int32]?, generation: Int, requests: HTTP2RequestBatch) {
        self.batch = batch
        self.rows = rows
        self.generation = generation
        self.requests = requests
        open = requests.count
    }

    /// The row of a request.
    func row(_ request: Int32) -> Int32 {
        rows.map { $0[Int(request)] } ?? request
    }

    /// Appends the rows of requests, neighbours as one range.
    func appendRows(_ range: Range<Int32>, to ranges: inout [Range<Int32>]) {
        guard let rows else { return Self.append(range, to: &ranges) }
        for row in rows[Int(range.lowerBound)..<Int(range.upperBound)] {
            Self.append(row..<row + 1, to: &ranges)
        }
    }

    private static func append(_ range: Range<Int32>, to ranges: inout [Range<Int32>]) {
        if let last = ranges.last, last.upperBound == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<range.upperBound
        } else {
            ranges.append(range)
        }
    }
}
