import Testing

@testable import PostgresClient

@Suite struct StateTests {
    private func submission(_ work: Request.Work, session: UInt64? = nil) -> Submission {
        Submission(request: Request(work, session: session), continuation: nil)
    }

    @Test func sessionHasTheConnectionToItself() {
        var queue = RequestQueue()
        let first = submission(.group([]))
        let begin = submission(.open([]), session: 1)
        let inside = submission(.group([]), session: 1)
        #expect(queue.add(begin) == nil)
        #expect(queue.add(first) == nil)
        #expect(queue.add(inside) != nil, "not on the connection yet")
        #expect(queue.popNext()?.request === begin.request)
        queue.begin(1)
        #expect(queue.next == nil, "everybody else waits")
        #expect(queue.add(inside) == nil)
        #expect(queue.popNext()?.request === inside.request)
        #expect(queue.add(inside) == nil)
        #expect(queue.endSession().count == 1, "what a session left behind is handed back")
        #expect(queue.next?.request === first.request)
    }

    /// A caller whose request the thread finds together with the wish to close is told of the end, and does not wait for ever.
    @Test(.timeLimit(.minutes(1))) func whatComesTogetherWithTheEndFails() async throws {
        let mailbox = try Mailbox()
        let error = await #expect(throws: PostgresError.self) {
            _ = try await withCheckedThrowingContinuation { continuation in
                mailbox.submit(Submission(request: Request(.group([])), continuation: continuation))
                mailbox.requestClose()
                // As the thread does.
                while let mail = mailbox.takeOrSleep(), !mail.close {}
                mailbox.end(Mailbox.closedError)
            }
        }
        #expect(error?.code == .closed)
        let late = await #expect(throws: PostgresError.self) { _ = try await mailbox.perform(.group([])) }
        #expect(late?.code == .closed)
    }

    @Test func cancelledRequestsLeaveTheQueue() {
        var queue = RequestQueue()
        let submissions = (0..<3).map { _ in submission(.group([])) }
        for submission in submissions { _ = queue.add(submission) }
        #expect(queue.remove(submissions[1].request) != nil)
        #expect(queue.remove(submissions[1].request) == nil)
        #expect(
            queue.removeAll().map { ObjectIdentifier($0.request) }
                == [0, 2].map { ObjectIdentifier(submissions[$0].request) }
        )
    }

    @Test func queueKeepsItsOrder() {
        var queue = FIFO<Int>()
        var (next, expected) = (0, 0)
        for round in 0..<500 {
            for _ in 0..<(round % 7) {
                queue.append(next)
                next += 1
            }
            for _ in 0..<(round % 5) where !queue.isEmpty {
                #expect(queue.popFirst() == expected)
                expected += 1
            }
            #expect(queue.count == next - expected)
        }
        #expect(queue.last == next - 1)
        queue.prepend(-1)
        #expect(queue.remove(at: 1) == expected)
        #expect(queue.removeAll().first == -1)
        #expect(queue.popFirst() == nil)
    }

    @Test func preparedOnceUsedByName() {
        var cache = StatementCache(limit: 2)
        #expect(cache.use(sql: "a", types: [20], group: 1) == .prepare(name: "s1", dropping: []))
        #expect(cache.use(sql: "a", types: [20], group: 1) == .prepared(name: "s1"))
        #expect(cache.use(sql: "a", types: [20], group: 2) == .unnamed, "it might fail in the first group")
        cache.confirm("s1")
        #expect(cache.use(sql: "a", types: [20], group: 3) == .prepared(name: "s1"))
        #expect(cache.use(sql: "a", types: [25], group: 3) == .prepare(name: "s2", dropping: []))
    }

    @Test func leastRecentlyUsedGoes() {
        var cache = StatementCache(limit: 2)
        for (group, sql) in [(UInt64(1), "a"), (2, "b")] {
            guard case .prepare(let name, _) = cache.use(sql: sql, types: [], group: group) else {
                Issue.record("\(sql) was not new")
                continue
            }
            cache.confirm(name)
        }
        _ = cache.use(sql: "a", types: [], group: 3)
        #expect(cache.use(sql: "c", types: [], group: 4) == .prepare(name: "s3", dropping: ["s2"]))
        cache.forget("s3")
        #expect(cache.count == 1)
        #expect(cache.use(sql: "c", types: [], group: 5) == .prepare(name: "s4", dropping: []))
    }

    @Test func groupKeepsWhatItUses() {
        var cache = StatementCache(limit: 1)
        _ = cache.use(sql: "a", types: [], group: 1)
        cache.confirm("s1")
        #expect(cache.use(sql: "a", types: [], group: 2) == .prepared(name: "s1"))
        #expect(cache.use(sql: "b", types: [], group: 2) == .prepare(name: "s2", dropping: []))
    }

    @Test func redaction() {
        let cases = [
            ("invalid input syntax for type bigint: \"x\"", "invalid input syntax for type bigint: \"…\""),
            ("value \"9\" is out of range for type smallint", "value \"…\" is out of range for type smallint"),
            ("ungültige Eingabesyntax für Typ bigint: »x«", "ungültige Eingabesyntax für Typ bigint: \"…\""),
            ("invalid byte sequence for encoding \"UTF8\": 0xc3", "invalid byte sequence for encoding \"…\": …"),
            ("division by zero", "division by zero"), ("one \" alone", "one \"…\" alone"),
        ]
        for (message, expected) in cases { #expect(ValueRedaction.redact(message, sqlState: "22000") == expected) }
        #expect(ValueRedaction.redact("relation \"t\" is missing", sqlState: "42P01") == "relation \"t\" is missing")
    }
}
