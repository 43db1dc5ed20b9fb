import PostgresClient
import PushCore

/// Message fields that come from the view of a target mapping.
extension Store {
    /// The messages of a claimed part as `loadPart` reads them, without the fields of messages whose fields cannot be
    /// read.
    ///
    /// If the view of a target mapping cannot compute a value for one person's row, the statement fails for everyone in
    /// it. Then the people are read in halves, until that person is alone; the others do not wait.
    ///
    /// Throws ``LoadProblem`` if there are more than a few such people, because then the view is at fault; also if the
    /// view does not answer in time.
    ///
    /// - Parameter timeout: the limit for all pieces together; each statement has the limit of its session.
    package func loadReadable(
        _ part: ClaimedPart,
        _ fields: MessageFields,
        within timeout: Duration = .seconds(3_600)
    ) async throws -> LoadedPart {
        let end = ContinuousClock.now + timeout
        var loaded = try await loadOwn(part, fields)
        // Without a mapping, nothing that others have written is read.
        guard fields.isMapped else { return loaded }
        do {
            try await fill(&loaded, fields, inPieces: true, until: end)
        } catch let error as PostgresError where LoadProblem.isTooSlow(error) {
            throw LoadProblem(
                .delivery,
                "\(fields.viewText) does not answer in time: \(LoadProblem.text(error))",
                isTimeout: LoadProblem.isTimeout(error)
            )
        }
        return loaded
    }

    /// At most this many messages of a part, or one in ten, may be unreadable. That also limits the statements, to a
    /// few hundred for a part.
    private static let maxUnreadable = 10

    /// Fills in the view's values for the people who are to get a message and have no value of their own for a field.
    ///
    /// - Parameters:
    ///   - inPieces: whether single people may be left out, with the reason.
    ///   - end: the time limit.
    func fill(
        _ loaded: inout LoadedPart,
        _ fields: MessageFields,
        inPieces: Bool = false,
        until end: ContinuousClock.Instant? = nil
    ) async throws {
        guard let mapping = fields.mapping else { return }
        let wanted = fields.mappedColumns
        var rowsOf: [String: [Int]] = [:]
        for row in 0..<loaded.count
        where loaded.decisions[row].isSendable && !loaded.userKeys.isNull(row) {
            guard wanted.contains(where: { loaded.fields[$0.place].isNull(row) }) else { continue }
            let key = loaded.userKeys.string(row)
            if !key.isEmpty { rowsOf[key, default: []].append(row) }
        }
        guard !rowsOf.isEmpty else { return }
        let query = try mapping.readSQL(
            wanted.map { "m.\(SQLName.quoted(try mapping.column($0.column).name))::text" },
            oneByOne: true
        )
        let limit = max(Self.maxUnreadable, loaded.count / 10)
        var values: [Int: [String?]] = [:]
        // The last piece is the next one. They are sorted, so that two reads of a part make the same queries.
        var pieces = [rowsOf.keys.sorted()]
        while let keys = pieces.popLast() {
            if let end, ContinuousClock.now >= end {
                throw LoadProblem(.delivery, "\(fields.viewText) does not answer in time", isTimeout: true)
            }
            do {
                for (key, columns) in try await people(keys, query, columns: wanted.count, fields) {
                    for row in rowsOf[key] ?? [] { values[row] = columns }
                }
            } catch {
                let problem = LoadProblem(error)
                guard inPieces, problem.scope == .message else { throw error }
                if keys.count > 1 {
                    let middle = keys.count / 2
                    pieces += [Array(keys[middle...]), Array(keys[..<middle])]
                    continue
                }
                for row in rowsOf[keys[0]] ?? [] {
                    loaded.unreadable[row] = LoadedPart.unreadableReason(problem.text)
                }
                guard loaded.unreadable.count <= limit else {
                    throw LoadProblem(
                        .part,
                        "more than \(limit) of the \(loaded.count) messages of a part cannot be read: \(problem.text)"
                    )
                }
            }
        }
        for (column, field) in wanted.enumerated() {
            loaded.fields[field.place] = loaded.fields[field.place].filled { row in values[row]?[column] }
        }
    }

    /// The view's values for some people, by their user keys.
    private func people(_ keys: [String], _ query: String, columns: Int, _ fields: MessageFields)
        async throws
        -> [(String, [String?])]
    {
        let lists = try await views.read(query, userKeys: keys, timeout: nil)
        guard lists.count == columns + 1, lists.allSatisfy({ $0.count == lists[0].count }) else {
            throw StoreError(.unexpectedAnswer, "\(fields.viewText) was read as \(lists.count) columns.")
        }
        return lists[0].enumerated().compactMap { place, key in
            key.map { ($0, lists.dropFirst().map { $0[place] }) }
        }
    }
}

extension LoadedPart {
    /// The reason of a message whose fields cannot be read; the answer table knows its first word.
    static func unreadableReason(_ text: String) -> String {
        "FieldsUnreadable: the target mapping's view cannot be read for this person: \(text)"
    }
}
