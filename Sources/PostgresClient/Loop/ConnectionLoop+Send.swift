import CLibPQ

extension ConnectionLoop {
    /// Sends a group, closed by a sync.
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
        for name in dropped {
            try send([PostgresStatement("DEALLOCATE \(name)")], [.unnamed], submission: nil, isDrop: true)
        }
        try send(statements, decisions, submission: submission)
        try flush()
    }

    /// Ends a transaction that COMMIT or ROLLBACK did not end, because a cancel request hit them.
    func sendCleanUp() throws(PostgresError) {
        try send([PostgresStatement("ROLLBACK")], [.unnamed], submission: nil)
        inFlight.last?.isCleanUp = true
        try flush()
    }

    /// Decides which statements are prepared, and which old ones have to go for them.
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
        if PQpipelineStatus(connection) == PQ_PIPELINE_OFF {
            try require(PQenterPipelineMode(connection))
        }
        let group = GroupInFlight(submission: submission, statements: statements, steps: [])
        inFlight.append(group)
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

    /// libpq refuses to send only when the connection is broken or memory is out: both end the connection.
    private func require(_ success: Int32) throws(PostgresError) {
        guard success == 1 else { throw lost() }
    }
}
