import PostgresClient
import TestSupport
import Testing

@Suite struct NotificationTests {
    @Test func arrivesFromAnotherConnection() async throws {
        let database = try await TestDatabase.create(.empty)
        let listener = try await database.connect()
        let other = try await database.connect()
        try await listener.listen("wake \"up\"")
        let task = Task { try await listener.nextNotification(deadline: .now + .seconds(60)) }
        try await other.execute(PostgresStatement("SELECT pg_notify($1, $2)", [.text("wake \"up\""), .text("hello")]))
        let notification = try #require(try await task.value)
        #expect(notification.channel == "wake \"up\"")
        #expect(notification.payload == "hello")
        #expect(notification.senderPID == other.backendPID)
    }

    @Test func deadlineGivesNil() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        try await connection.listen("quiet")
        #expect(try await connection.nextNotification(deadline: .now + .milliseconds(30)) == nil)
        #expect(try await connection.nextNotification(deadline: .now - .seconds(1)) == nil)
    }

    @Test func keptInOrderWhileNobodyWaits() async throws {
        let database = try await TestDatabase.create(.empty)
        let listener = try await database.connect()
        try await listener.listen("numbers")
        for number in 0..<5 {
            try await listener.execute(PostgresStatement("SELECT pg_notify('numbers', $1)", [.text("\(number)")]))
        }
        for number in 0..<5 {
            let notification = try await listener.nextNotification(deadline: .now + .seconds(60))
            #expect(notification?.payload == "\(number)")
        }
        try await listener.execute(PostgresStatement("UNLISTEN numbers", prepare: false))
        try await listener.execute(PostgresStatement("SELECT pg_notify('numbers', 'unheard')"))
        #expect(try await listener.nextNotification(deadline: .now) == nil)
    }

    @Test func statementsRunWhileOneWaits() async throws {
        let database = try await TestDatabase.create(.empty)
        let connection = try await database.connect()
        try await connection.listen("channel")
        let task = Task { try await connection.nextNotification(deadline: .now + .seconds(60)) }
        for number in Int64(0)..<20 {
            let result = try await connection.execute(PostgresStatement("SELECT $1::int8", [.int64(number)]))
            #expect(try result.int64(0, 0) == number)
        }
        try await connection.execute(PostgresStatement("SELECT pg_notify('channel', '')"))
        #expect(try await task.value?.payload == "")
    }

    @Test func waitingCanBeCancelled() async throws {
        let connection = try await TestDatabase.create(.empty).connect()
        let task = Task { try await connection.nextNotification(deadline: .now + .seconds(600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(connection.isOpen)
    }
}
