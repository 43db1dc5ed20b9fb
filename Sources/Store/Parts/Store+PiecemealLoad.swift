import PostgresClient
import PushCore

extension Store {
    /// The messages of a claimed part as `loadPart` reads them, without the fields of those of which they cannot be read.
    ///
    /// One person's row in the view of a target mapping, with a value that the view cannot compute, fails the statement for the whole
    /// part. Then it is read in halves, until who has such a row is alone; the others are not kept waiting.
    ///
    /// Throws ``LoadProblem`` if that is so of more than a few: then it is the view, and not the people; also if the view does not
    /// answer in time.
    ///
    /// - Parameter timeout: how long all pieces together may take; each statement has the limit of its session.
    public func loadReadable(
        _ part: ClaimedPart,
        _ fields: MessageFields,
        within timeout: Duration = .seconds(3_600)
    ) async throws -> LoadedPart {
        let end = ContinuousClock.now + timeout
        do {
            do {
                return try await loadPart(part, fields)
            } catch {
                // Without a mapping nothing of other people's making is read.
                guard fields.isMapped, LoadProblem(error).scope == .message else { throw error }
                return try await loadPiecemeal(part, fields, until: end)
            }
        } catch let error as PostgresError where fields.isMapped && LoadProblem.isTooSlow(error) {
            throw LoadProblem(
                .delivery,
                "\(fields.viewText) does not answer in time: \(LoadProblem.text(error))",
                isTimeout: LoadProblem.isTimeout(error)
            )
        }
    }

    /// So many messages of a part, or every tenth, may be unreadable. That bounds the statements too, at a few hundred for a part.
    private static let mostUnreadable = 10

    /// The first piece is the whole part again: a dense one is read with all of its range, and the row may be of somebody who gets no
    /// message.
    private func loadPiecemeal(
        _ part: ClaimedPart,
        _ fields: MessageFields,
        until end: ContinuousClock.Instant
    ) async throws -> LoadedPart {
        let key: [PostgresValue] = [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)]
        let target = try await query(Self.targetSQL, key)
        var loaded = LoadedPart()
        loaded.subscriptionIDs = try first(target, orThrow: "Part \(part.id) has no target.") { rows, row in
            try rows.int64Array(row, 1)
        }
        loaded.sequences = try Self.sequences(target, count: loaded.subscriptionIDs.count)
        loaded.accepted = try SubscriptionAcceptance(await group([SubscriptionAcceptance.statement(part)])[0])
            .flags(loaded.subscriptionIDs)
        loaded.reserve(loaded.count, fields)
        let most = max(Self.mostUnreadable, loaded.count / 10)
        // The last one is the next.
        var pieces = [1...max(1, loaded.count)]
        while let places = pieces.popLast() {
            guard ContinuousClock.now < end else {
                throw LoadProblem(
                    .delivery,
                    "\(fields.viewText) cannot be read for some people, and does not answer in time for the others",
                    isTimeout: true
                )
            }
            do {
                try await append(places, of: part, fields, to: &loaded)
            } catch {
                let problem = LoadProblem(error)
                guard problem.scope == .message else { throw error }
                if places.count > 1 {
                    let middle = places.lowerBound + places.count / 2
                    pieces += [middle...places.upperBound, places.lowerBound...(middle - 1)]
                } else if loaded.unreadable.count < most {
                    try await appendUnreadable(places, of: part, fields, problem, to: &loaded)
                } else {
                    throw LoadProblem(
                        .part,
                        "more than \(most) of the \(loaded.count) messages of a part cannot be read: \(problem.text)"
                    )
                }
            }
        }
        return loaded
    }

    private func append(
        _ places: ClosedRange<Int>,
        of part: ClaimedPart,
        _ fields: MessageFields,
        to loaded: inout LoadedPart
    ) async throws {
        let rows = try await query(
            Self.sparseSQL(fields, variables: part.hasVariables, places: true),
            Self.parameters(places, of: part, fields)
        )
        guard rows.rowCount == places.count else {
            throw StoreError(
                .unexpectedAnswer,
                "Of part \(part.id) \(places.count) messages were asked for, \(rows.rowCount) were read."
            )
        }
        for row in 0..<rows.rowCount {
            if rows.isNull(row, 1) {
                loaded.appendMissing(fields)
            } else {
                try loaded.append(rows, row, verdict: 0, token: 1, firstField: 3, fields)
            }
        }
    }

    /// Who gets no message anyway is told apart from who would get one.
    private func appendUnreadable(
        _ places: ClosedRange<Int>,
        of part: ClaimedPart,
        _ fields: MessageFields,
        _ problem: LoadProblem,
        to loaded: inout LoadedPart
    ) async throws {
        let bare = MessageFields(names: [])
        let rows = try await query(
            Self.sparseSQL(bare, variables: false, places: true),
            Self.parameters(places, of: part, bare)
        )
        try loaded.appendUnreadable(rows, reason: MessageFields.unreadableReason(problem.text), fields)
    }

    private static func parameters(
        _ places: ClosedRange<Int>,
        of part: ClaimedPart,
        _ fields: MessageFields
    ) -> [PostgresValue] {
        [.date(daysSince2000: part.logDay.daysSince2000), .int64(part.id)] + fields.parameters
            + [.int64(Int64(places.lowerBound)), .int64(Int64(places.upperBound))]
    }
}

extension MessageFields {
    /// The reason to record for a message whose fields cannot be read; the answer table knows its first word.
    static func unreadableReason(_ text: String) -> String {
        "FieldsUnreadable: the target mapping's view cannot be read for this person: \(text)"
    }

    /// Whether something is looked up in a target mapping's view.
    public var isMapped: Bool { !joinSQL.isEmpty }
}
