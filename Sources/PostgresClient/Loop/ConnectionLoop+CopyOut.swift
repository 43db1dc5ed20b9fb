import CLibPQ

extension ConnectionLoop {
    /// Rows are handed over in chunks of about this many bytes: enough to make a hand-over cheap.
    private static let chunkSize = 64 * 1024

    /// Reads rows for the one who waits; answers with what there is.
    func readRows(_ operation: ExclusiveOperation) throws(PostgresError) {
        var chunk: [UInt8] = []
        while chunk.count < Self.chunkSize {
            let isMore = try nextRow(operation) { row in
                if chunk.isEmpty { chunk.reserveCapacity(Self.chunkSize + row.count) }
                chunk.append(contentsOf: row)
            }
            guard isMore else { break }
        }
        if !chunk.isEmpty { operation.reply(.bytes(chunk)) }
    }

    /// Throws away what a reader that has gone did not take.
    func discardRows(_ operation: ExclusiveOperation) throws(PostgresError) {
        while try nextRow(operation, { _ in }) {}
    }

    /// Takes one row out of libpq's buffer; false when there is none just now or at the end.
    private func nextRow(
        _ operation: ExclusiveOperation,
        _ use: (UnsafeRawBufferPointer) -> Void
    ) throws(PostgresError) -> Bool {
        var row: UnsafeMutablePointer<CChar>?
        let length = PQgetCopyData(connection, &row, 1)
        switch length {
        case 0:
            return false
        case -1:
            operation.phase = .ending
            return false
        case 1...:
            use(UnsafeRawBufferPointer(start: row, count: Int(length)))
            PQfreemem(row)
            return true
        default:
            throw lost()
        }
    }
}
