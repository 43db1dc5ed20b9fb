import PostgresClient
import Synchronization
import Testing

@testable import WebServer

@Suite struct RefreshedValueTests {
    private struct Trouble: Error {}

    /// A patient caller gets the read that succeeds; an impatient one gets the first failure.
    @Test func thePatientWaitForADatabaseThatIsAway() async {
        let readings = Mutex(0)
        let value = RefreshedValue(
            0,
            pause: .milliseconds(1),
            read: {
                readings.withLock {
                    $0 += 1
                    return $0
                } > 3 ? 7 : nil
            }
        )
        #expect(await !value.refresh())
        #expect(await value.refresh(timeout: .seconds(60)))
        #expect(value.current == 7)
        #expect(readings.withLock { $0 } >= 4)
    }

    @Test func theTimeoutHasAnEnd() async {
        let value = RefreshedValue(0, pause: .milliseconds(1), read: { nil })
        #expect(await !value.refresh(timeout: .milliseconds(50)))
        #expect(await !value.refresh())
    }

    /// A database that answers with an error will do so again, so the read is not repeated.
    @Test func otherTroubleIsToldAtOnce() async {
        let failures = Mutex(0)
        let value = RefreshedValue<Int>(
            0,
            read: { throw Trouble() },
            onFailure: { _ in failures.withLock { $0 += 1 } }
        )
        #expect(await !value.refresh(timeout: .seconds(600)))
        #expect(failures.withLock { $0 } == 1)
    }
}
