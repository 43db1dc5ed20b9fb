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
}
