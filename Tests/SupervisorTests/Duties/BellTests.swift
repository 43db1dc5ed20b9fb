import Testing

@testable import Supervisor

@Suite(.timeLimit(.minutes(1))) struct BellTests {
    @Test func aRingEndsTheWait() async {
        let bell = Bell()
        async let wait: Void = bell.wait(atMost: .seconds(600))
        bell.ring()
        await wait
    }

    @Test func aRingThatNobodyWaitedForIsRemembered() async {
        let bell = Bell()
        bell.ring()
        bell.ring()
        await bell.wait(atMost: .seconds(600))
    }

    @Test func timeEndsTheWait() async {
        await Bell().wait(atMost: .milliseconds(1))
    }

    @Test func cancellationEndsTheWait() async {
        let bell = Bell()
        let wait = Task { await bell.wait(atMost: .seconds(600)) }
        wait.cancel()
        await wait.value
    }

    @Test func manyRoundsLoseNoRing() async {
        let bell = Bell()
        for _ in 0..<1_000 {
            async let wait: Void = bell.wait(atMost: .seconds(600))
            bell.ring()
            await wait
        }
    }
}
