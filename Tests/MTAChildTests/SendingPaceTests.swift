import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// How a child shares its limits between deliveries.
@Suite struct SendingPaceTests {
    private func ms(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    private let project = RateLimit(id: 2, messagesPerSecond: 1_000, isProject: true)
    private let delivery = RateLimit(id: 9, messagesPerSecond: 100, deliveryID: 16)

    private func grant(_ pace: inout SendingPace, _ rates: [Int64: Double], at moment: Duration) {
        let asked = pace.slicesToAsk(at: moment)
        let slices = asked.map {
            RateSlice(
                limit: $0.limit,
                messages: $0.messages,
                startsIn: .zero,
                messagesPerSecond: rates[$0.limit] ?? 1
            )
        }
        pace.take(slices, askedFor: asked.map(\.limit), at: moment)
    }

    @Test func aMessageNeedsRoomInEveryLimit() {
        var pace = SendingPace()
        pace.take([project, delivery], asked: [16, 32], held: [])
        pace.begin(at: ms(0))
        #expect(pace.room(for: 500, of: 16) == 0)
        #expect(pace.room(for: 500, of: 32) == 0)
        #expect(pace.needsSlices(at: ms(0)))
        grant(&pace, [2: 1_000, 9: 100], at: ms(0))
        pace.begin(at: ms(30))
        #expect(pace.room(for: 500, of: 16) == 4)
        pace.use(4, of: 16, at: ms(30))
        #expect(pace.room(for: 500, of: 32) == 27, "what the limited one has used is gone from the project's")
        pace.use(27, of: 32, at: ms(30))
        #expect(pace.room(for: 500, of: 32) == 0)
        #expect(pace.nextLook(at: ms(30)) == ms(50), "a step after the last")
        #expect(pace.nextLook(at: ms(31)) == nil, "the timer is set")
    }

    @Test func aLimitedDeliveryAsksNoMoreOfTheProjectThanItCanUse() {
        var pace = SendingPace()
        pace.take([project, delivery], asked: [16], held: [])
        pace.begin(at: ms(0))
        _ = pace.room(for: 1_000, of: 16)
        let asked = Dictionary(uniqueKeysWithValues: pace.slicesToAsk(at: ms(0)).map { ($0.limit, $0.messages) })
        #expect(asked == [9: 5, 2: 5], "five are a slice of the delivery's")
    }

    @Test func limitsComeAndGoWhileMessagesAreSent() {
        var pace = SendingPace()
        #expect(pace.isFree)
        pace.claim(16, delivery)
        #expect(!pace.isFree)
        pace.take([], asked: [], held: [16])
        #expect(!pace.isFree, "the database was not asked for the delivery")
        #expect(pace.isEnough(100, of: 16) && !pace.isEnough(99, of: 16) && !pace.isEnough(1_000_000, of: 32))
        pace.take([], asked: [16], held: [16])
        #expect(pace.isFree)
        pace.take([RateLimit(id: 2, messagesPerSecond: .infinity, isProject: true)], asked: [], held: [])
        #expect(pace.isFree, "a project without a limit")
        #expect(pace.projectLimit == nil)
    }

    @Test func aRefusalOfTheProjectIsToldOnce() {
        var pace = SendingPace()
        pace.refused("429")
        #expect(pace.takeRefusal() == nil, "nothing is limited that could be halved")
        pace.take([project], asked: [], held: [])
        pace.refused("429")
        #expect(pace.takeRefusal()?.limit == 2)
        #expect(pace.takeRefusal() == nil)
    }
}
