import HTTP2
import PushCore

/// What tells one HTTP/2 gateway from another; used on the gateway's event loop.
protocol GatewayDialect: AnyObject {
    /// The gateway's name in texts.
    var name: String { get }

    /// The gateway whose rows of the answer table count.
    var answers: AnswerGateway { get }

    /// Whether a connection may not change its token, so that a new token asks for new connections.
    var bindsTokenToConnection: Bool { get }

    /// Gets ready to send. `onChange` is called when waiting messages can go or must be given back.
    func start(onChange: @escaping (AccessTokenRefresh.Change) -> Void)

    /// Ends the pause between attempts to fetch what it authorises itself with, if there is one.
    func retryNow()

    /// Stops what runs by itself.
    func stop()

    /// Whether messages can be sent now.
    func authorization() -> Authorization

    /// Makes requests of messages.
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

    /// The outcome of a message that was answered with 200; nil if no gateway answers so.
    func accepted(_ response: HTTP2Response, row: Int32, flight: Flight) -> Outcome?

    /// The outcome of a message that was not accepted, and what follows from it.
    func refused(_ response: HTTP2Response, row: Int32, flight: Flight) -> Decision

    /// Gets another token in place of the one of this generation, which the gateway does not take.
    ///
    /// - Parameter row: what the gateway said means so; changed if there can be no other token.
    /// - Returns: whether requests that still wait carry the old token and have to be made anew.
    func tokenRejected(generation: Int, _ row: inout AnswerRow) -> Bool

    /// The reason that a GOAWAY gives, and what it means.
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
    /// The traces that are to see a request, for the few that somebody wants to see.
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
