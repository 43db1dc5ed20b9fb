import CLibPQ

extension ConnectionLoop {
    /// Sends a group and a sync.
    func send(_ submission: Submission) throws(PostgresError) {
        let statements: [PostgresStatement]
        switch submission.request.work {
        case .group(let group), .close(let group): statements = group
        case .open(let group):
            statements = group
            if let session = submission.request.session { queue.begin(session) }
        default: return
        }
        let (decisions, dropped) = plan(statements)
        do throws(PostgresError) {
            for name in dropped {
                try send([PostgresStatement("DEALLOCATE \(name)")], [.unnamed], submission: nil, isDrop: true)
            }
        } catch {
            // It is in no queue any more.
            submission.fail(error)
            throw error
        }
        try send(statements, decisions, submission: submission)
        try flush()
    }

    /// Rolls back a transaction whose COMMIT or ROLLBACK was hit by a cancel request.
    func sendCleanUp() throws(PostgresError) {
        try send([PostgresStatement("ROLLBACK")], [.unnamed], submission: nil)
        inFlight.last?.isCleanUp = true
        try flush()
    }

    /// Decides which statements are prepared, and which old ones are dropped for them.
    private func plan(_ statements: [PostgresStatement]) -> ([StatementCache.Decision], [String]) {
        let number = newGroupNumber()
        var dropped: [String] = []
        let decisions = statements.map { statement -> StatementCache.Decision in
            guard statement.prepare else { return .unnamed }
            let types = statement.parameters.map(\.type.rawValue)
            let decision = self.statements.use(sql: statement.sql, types: types, group: number)
            if case .prepare(_, let names) = decision { dropped += names }
            return decision
        }
        return (decisions, dropped)
    }

    private func send(
        _ statements: [PostgresStatement],
        _ decisions: [StatementCache.Decision],
        submission: Submission?,
        isDrop: Bool = false
    ) throws(PostgresError) {
        // This comes first, so that the group also fails if sending ends the connection.
        let group = GroupInFlight(submission: submission, statements: statements, steps: [])
        inFlight.append(group)
        if PQpipelineStatus(connection) == PQ_PIPELINE_OFF {
            try require(PQenterPipelineMode(connection))
        }
        for (index, statement) in statements.enumerated() {
            encoder.encode(statement.parameters)
            switch decisions[index] {
            case .prepared(let name):
                try sendPrepared(name)
                group.steps.append(.execute(statement: index, name: name))
            case .prepare(let name, _):
                try require(PQsendPrepare(connection, name, statement.sql, encoder.count, encoder.types))
                group.steps.append(.prepare(name: name, statement: index))
                try sendPrepared(name)
                group.steps.append(.execute(statement: index, name: name))
            case .unnamed:
                try sendUnnamed(statement.sql)
                group.steps.append(isDrop ? .drop : .execute(statement: index, name: nil))
            }
        }
        try require(PQpipelineSync(connection))
    }

    private func sendPrepared(_ name: String) throws(PostgresError) {
        try require(
            PQsendQueryPrepared(
                connection,
                name,
                encoder.count,
                encoder.values,
                encoder.lengths,
                encoder.formats,
                1
            )
        )
    }

    private func sendUnnamed(_ sql: String) throws(PostgresError) {
        try require(
            PQsendQueryParams(
                connection,
                sql,
                encoder.count,
                encoder.types,
                encoder.values,
                encoder.lengths,
                encoder.formats,
                1
            )
        )
    }

    /// libpq refuses to send only if the connection is broken or memory runs out. Both end the connection.
    private func require(_ success: Int32) throws(PostgresError) {
        guard success == 1 else { try fail() }
    }
}

extension ConnectionLoop {
    /// Reads and handles what has arrived.
    func receive() throws(PostgresError) {
        let isAlive = PQconsumeInput(connection) == 1
        if exclusive != nil { try receiveExclusive() } else { try receiveGroups() }
        receiveNotifications()
        guard isAlive else { throw lost() }
    }

    /// libpq ends each statement's results with a NULL. More in a row than this mean an endless loop.
    private static let maxNullsInARow = 16

    private func receiveGroups() throws(PostgresError) {
        var nulls = 0
        while let group = inFlight.first, PQisBusy(connection) == 0 {
            if let result = PQgetResult(connection) {
                nulls = 0
                results += 1
                try handle(result, of: group)
            } else {
                nulls += 1
                // Goes on even if the connection is gone: the server's last error may follow results that were read
                // with it.
                guard nulls < Self.maxNullsInARow else { throw lost() }
            }
        }
        if inFlight.isEmpty, PQpipelineStatus(connection) != PQ_PIPELINE_OFF {
            // Outside pipeline mode libpq also reads unsolicited messages: parameters, the server's last error.
            guard PQexitPipelineMode(connection) == 1 else { throw lost() }
        }
    }

    private func handle(_ result: OpaquePointer, of group: GroupInFlight) throws(PostgresError) {
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            try finish(group)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            succeed(result, group)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            fail(nextStep(of: group))
        case PGRES_FATAL_ERROR:
            defer { PQclear(result) }
            try fail(result, group)
        default:
            PQclear(result)
            throw PostgresError(
                code: .connection,
                message: "a statement started a COPY, and the connection was closed; use copyIn or copyOut"
            )
        }
    }

    private func nextStep(of group: GroupInFlight) -> GroupInFlight.Step? {
        guard group.nextStep < group.steps.count else { return nil }
        defer { group.nextStep += 1 }
        return group.steps[group.nextStep]
    }

    private func succeed(_ result: OpaquePointer, _ group: GroupInFlight) {
        switch nextStep(of: group) {
        case .execute:
            group.results.append(PostgresResult(result))
        case .prepare(let name, _):
            statements.confirm(name)
            PQclear(result)
        case .drop, nil:
            PQclear(result)
        }
    }

    /// A statement whose preparation failed or was skipped does not exist at the server.
    private func fail(_ step: GroupInFlight.Step?) {
        if case .prepare(let name, _) = step { statements.forget(name) }
    }

    private func fail(_ result: OpaquePointer, _ group: GroupInFlight) throws(PostgresError) {
        let step = nextStep(of: group)
        fail(step)
        let index: Int?
        switch step {
        case .execute(let statement, let name):
            index = statement
            // The result type changed with the table, or all statements were deallocated: prepare it again next time.
            let state = PostgresError.field(result, .sqlState)
            if let name, state == "0A000" || state == "26000" { statements.forget(name) }
        case .prepare(_, let statement): index = statement
        case .drop, nil: index = nil
        }
        let statement = index.map { group.statements[$0].sql }
        let error = PostgresError(result: result, statement: statement, index: index)
        if PostgresError.isFatal(result) { throw error.asLossOfConnection() }
        // An error without SQLSTATE is libpq's own.
        if error.sqlState == nil, PQstatus(connection) == CONNECTION_BAD { throw lost() }
        mailbox.note(error)
        if group.error == nil { group.error = error }
    }

    private func finish(_ group: GroupInFlight) throws(PostgresError) {
        if notices.hasUnreplicatedCommit { throw .unreplicatedCommit }
        _ = inFlight.popFirst()
        try endSession(after: group)
        if let error = group.error {
            fail(group, error)
        } else {
            group.submission?.succeed(.results(group.results))
        }
        startCancelIfWanted()
    }

    private func fail(_ group: GroupInFlight, _ error: PostgresError) {
        guard let submission = group.submission else { return }
        let wasCancelled = error.sqlState == "57014"
        if wasCancelled, group.cancelWanted {
            submission.fail(CancellationError())
        } else if wasCancelled, group.isExposed, !group.cancelOrdered, submission.request.session == nil {
            // A cancel request meant for another group hit this one. It had no effect, so it is sent again.
            queue.putBack(submission)
        } else {
            submission.fail(error)
        }
    }

    /// Frees the connection after COMMIT or ROLLBACK, or if BEGIN failed.
    private func endSession(after group: GroupInFlight) throws(PostgresError) {
        switch group.submission?.request.work {
        case .open where group.error != nil, .close: break
        case nil where group.isCleanUp: break
        default: return
        }
        if PQtransactionStatus(connection) != PQTRANS_IDLE {
            guard !group.isCleanUp else { throw lost() }
            return try sendCleanUp()
        }
        let over = PostgresError(code: .sqlState("25P01"), message: "the transaction is over")
        for submission in queue.endSession() { submission.fail(over) }
    }
}
