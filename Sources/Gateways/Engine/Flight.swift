import HTTP2

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
