import PostgresClient

/// Messages of a delivery that have not left: some spread over its parts, and those with the longest values.
package struct DeliverySample: Sendable {
    /// The messages, with the values that their payloads need.
    package internal(set) var messages: LoadedPart
    /// Whether each was chosen for the length of its values.
    package private(set) var areLongest: [Bool] = []
    /// The number of messages from which they were chosen.
    package private(set) var all: Int64 = 0

    /// Reads the result of ``Store/sampleStatement(of:application:limit:_:)``.
    init(_ rows: PostgresResult, _ fields: MessageFields) throws {
        messages = LoadedPart(room: rows.rowCount, for: fields)
        for row in 0..<rows.rowCount {
            messages.sequences.append(Int32(row + 1))
            messages.subscriptionIDs.append(try rows.int64(row, 0))
            areLongest.append(try rows.bool(row, 1))
            all = try rows.int64(row, 2)
            try messages.append(rows, row, decision: 3, token: 4, firstField: 6, fields)
        }
    }
}
