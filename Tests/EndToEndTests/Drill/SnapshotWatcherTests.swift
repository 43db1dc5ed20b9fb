import PostgresClient
import Store
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

@Suite struct SnapshotWatcherTests {
    @Test(arguments: [PostgresError.Code.connection, .closed, .timeout, .sqlState("57P03"), .sqlState("53300")])
    func aDatabaseThatIsAwayIsNoFault(code: PostgresError.Code) {
        #expect(SnapshotWatcher.isAbsence(PostgresError(code: code, message: "")))
    }

    @Test(arguments: [PostgresError.Code.type, .sqlState("42703"), .sqlState("22012"), .sqlState("XX000")])
    func aSnapshotThatCannotBeReadIsOne(code: PostgresError.Code) {
        #expect(!SnapshotWatcher.isAbsence(PostgresError(code: code, message: "")))
        #expect(!SnapshotWatcher.isAbsence(StoreError(.unexpectedAnswer, "")))
    }
}
