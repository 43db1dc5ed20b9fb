import PushCore
import Store
import Synchronization
import TestSupport
import Testing

@testable import MTAChild

@Suite(.timeLimit(.minutes(1))) struct LoadingPartsTests {
    private func part(_ id: Int64, delivery: Int64) -> ClaimedPart {
        ClaimedPart(
            id: id,
            deliveryID: delivery,
            fencingToken: 3,
            size: 1,
            attempt: 1,
            logDay: LogDay(daysSince2000: 1),
            priority: 0,
            dispatchMark: 0,
            applicationID: 1,
            isDense: false,
            hasVariables: false,
            ambiguityPolicy: .resend
        )
    }

    @Test func onlyThoseThatAreGivenUpEnd() async {
        let loading = LoadingParts()
        let ended = Ended()
        let tasks = (1...4).map { id in
            let parts = [part(Int64(id), delivery: Int64(id % 2))]
            return loading.hold(parts) {
                Task {
                    // Ends when it is cancelled.
                    try? await Task.sleep(for: .seconds(600))
                    ended.ids.withLock { $0.append(Int64(id)) }
                    loading.end(parts)
                }
            }
        }
        #expect(loading.tokens == Set((1...4).map { PartToken(part: $0, token: 3) }))
        #expect(loading.deliveries == [0, 1] && loading.count == 4)
        loading.giveUp { _, part in part.deliveryID == 1 }
        await tasks[0].value
        await tasks[2].value
        #expect(ended.ids.withLock { $0.sorted() } == [1, 3])
        #expect(
            loading.deliveries == [0] && loading.tokens == [PartToken(part: 2, token: 3), PartToken(part: 4, token: 3)]
        )
        loading.giveUp { token, _ in token.part == 2 }
        await tasks[1].value
        let wait = Task { await loading.ended() }
        loading.giveUp { _, _ in true }
        await wait.value
        #expect(loading.count == 0)
        await loading.ended()
    }
}

/// The tasks that ended. A mutex cannot be captured by a task within another closure.
private final class Ended: Sendable {
    let ids = Mutex<[Int64]>([])
}
