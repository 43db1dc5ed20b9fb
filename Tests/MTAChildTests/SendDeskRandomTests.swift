import Gateways
import PushCore
import Testing

@testable import MTAChild
@testable import Store

/// Runs desks through random schedules and checks that every message ends exactly once.
@Suite struct SendDeskRandomTests {
    /// What is around a desk: a gateway that settles in any order and a database that answers late or not at all.
    private struct World {
        var random: SplitMix
        var desk: SendDesk
        var marks: [[PartMark]] = []
        var inGateway: [(batch: Int64, index: Int32)] = []
        var resends: [Int64] = []
        var stores: [(OutcomeBatch, Int)] = []
        var ended: [Int32: Int] = [:]
        var released: Set<Int64> = []
        var lost: Set<Int64> = []
        var mostUnsettled = 0

        mutating func perform(_ event: SendDesk.Event) {
            for action in desk.handle(event, now: DeskFixture.start) {
                switch action {
                case .mark(let asked): marks.append(asked)
                case .submit(let batch): inGateway += (0..<Int32(batch.count)).map { (batch.id, $0) }
                case .resendLater(let id, _): resends.append(id)
                case .release(let part, _): released.insert(part.part)
                case .cutJournal: perform(.journalCut)
                case .journal, .store, .cancelQueued, .claimMore: break
                }
            }
            mostUnsettled = max(mostUnsettled, desk.unsettled)
            if let taken = desk.takeOutcomes() { stores.append(taken) }
        }

        mutating func step() {
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where !marks.isEmpty:
                let asked = marks.removeFirst()
                if Int.random(in: 0..<4, using: &random) == 0 {
                    perform(.markFailed)
                } else {
                    perform(.marked(asked, held: Set(asked.map(\.holding.part)).subtracting(lost)))
                }
            case 1 where !resends.isEmpty:
                perform(.resendDue(batchID: resends.remove(at: Int.random(in: 0..<resends.count, using: &random))))
            case 2 where !stores.isEmpty: store()
            default: settle()
            }
        }

        mutating func settle() {
            guard !inGateway.isEmpty else { return }
            let (batch, index) = inGateway.remove(at: Int.random(in: 0..<inGateway.count, using: &random))
            let kinds: [OutcomeClass] = [
                .accepted, .accepted, .accepted, .permanent, .retry, .unprocessed, .ambiguous, .stopApplication,
            ]
            let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
            perform(.settled(batchID: batch, outcomes: [Outcome(index: index, outcomeClass: kind)]))
        }

        mutating func store() {
            let (batch, rows) = stores.removeFirst()
            var report = StoreReport()
            for sequence in batch.runs.flatMap(\.sequences) + batch.rows.map(\.sequence) {
                ended[sequence, default: 0] += 1
            }
            for closing in batch.closing {
                if lost.contains(closing.holding.part) {
                    report.fencedParts.append(closing.holding.part)
                } else {
                    report.closedParts.append(closing.holding.part)
                    for sequence in closing.retries.flatMap(\.sequences) { ended[sequence, default: 0] += 1 }
                }
            }
            perform(.stored(report, holdings: batch.holdings, windowRows: rows))
        }
    }

    @Test func everyMessageEndsExactlyOnce() throws {
        let seed = UInt64.random(in: .min ... .max)
        let deliveries = try [AmbiguityPolicy.resend, .report].map { try DeskFixture.delivery(policy: $0) }
        for run in 0..<400 {
            var world = World(
                random: SplitMix(seed: seed &+ UInt64(run)),
                desk: SendDesk(window: 12, batchSize: 5, applicationID: 1)
            )
            var sequences: [Int64: [Int32]] = [:]
            for id in 1...Int64(5) {
                let size = Int.random(in: 1...9, using: &world.random)
                let delivery = deliveries[Int.random(in: 0...1, using: &world.random)]
                let part = DeskFixture.part(id, size: size, slice: 4, delivery: delivery)
                sequences[id] = part.sequences
                world.perform(.prepared(part))
                for _ in 0..<Int.random(in: 0...20, using: &world.random) { world.step() }
                if Int.random(in: 0..<6, using: &world.random) == 0 {
                    world.lost.insert(id)
                    world.perform(.leasesLost([PartToken(part: id, token: 1)]))
                }
            }
            if Int.random(in: 0..<3, using: &world.random) == 0 { world.perform(.hurry) }
            var steps = 0
            while !world.desk.isEmpty, steps < 20_000 {
                world.step()
                steps += 1
            }
            #expect(world.desk.isEmpty, "seed \(seed), run \(run): the desk never became empty")
            #expect(world.desk.unsettled == 0, "seed \(seed), run \(run)")
            #expect(world.mostUnsettled <= 12, "seed \(seed), run \(run)")
            for (id, part) in sequences {
                let isOpen = world.released.contains(id) || world.lost.contains(id)
                for sequence in part {
                    let ends = world.ended[sequence] ?? 0
                    #expect(
                        isOpen ? ends <= 1 : ends == 1,
                        "seed \(seed), run \(run), message \(sequence) ended \(ends) times"
                    )
                }
            }
        }
    }
}
