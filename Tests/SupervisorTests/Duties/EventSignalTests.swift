import ProcessProtocol
import Testing

@testable import Supervisor

@Suite(.timeLimit(.minutes(1))) struct EventSignalTests {
    @Test func anEventEndsTheWait() async {
        let event = EventSignal()
        async let wait: Void = event.wait(timeout: .seconds(600))
        event.fire()
        await wait
    }

    @Test func anEventThatNobodyWaitedForIsRemembered() async {
        let event = EventSignal()
        event.fire()
        event.fire()
        await event.wait(timeout: .seconds(600))
    }

    @Test func timeEndsTheWait() async {
        await EventSignal().wait(timeout: .milliseconds(1))
    }

    @Test func cancellationEndsTheWait() async {
        let event = EventSignal()
        let wait = Task { await event.wait(timeout: .seconds(600)) }
        wait.cancel()
        await wait.value
    }

    @Test func manyRoundsLoseNoEvent() async {
        let event = EventSignal()
        for _ in 0..<1_000 {
            async let wait: Void = event.wait(timeout: .seconds(600))
            event.fire()
            await wait
        }
    }
}
