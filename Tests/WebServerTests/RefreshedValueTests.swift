import PostgresClient
import Synchronization
import Testing

@testable import WebServer

@Suite struct RefreshedValueTests {
    private struct Trouble: Error {}

    /// Who is patient hears of the reading that succeeds, who is not of the first that does not.
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

    /// A database that answers with an error will answer so again.
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
