import Gateways
import PushCore
import TestSupport

@testable import MTAChild
@testable import Store

/// Random events around a dispatch state.
extension DispatchWorld {
    /// The maximum number of messages without a stored outcome.
    static let window = 12

    /// The world of a schedule: the same seed gives the same world and the same steps.
    static func make(seed: UInt64) throws -> DispatchWorld {
        var world = DispatchWorld(
            random: TestRandom(seed: seed),
            dispatch: DispatchState(
                window: DispatchWindow(size: window, maxBytes: .max),
                batchSize: 5,
                applicationID: 1,
                random: TestRandom(seed: ~seed)
            )
        )
        world.dispatch.gatewayAnswers = .apnsHTTP2
        for id in 1...Int64(3) {
            let delivery = try DispatchFixture.delivery(
                id: id * 16,
                policy: world.chance(2) ? .resend : .report,
                validUntilMilliseconds: world.chance(6) ? DispatchFixture.start + 3_000 : nil
            )
            world.states[delivery.id] = .inProgress
            for part in 1...Int64(2) {
                let size = Int.random(in: 1...9, using: &world.random)
                world.parts[id * 10 + part] = DispatchWorld.Part(id: id * 10 + part, delivery: delivery, size: size)
            }
        }
        if world.chance(3) { world.limit() }
        world.stopsApplication = world.chance(8)
        world.mixesUp = world.chance(8)
        world.stopsDelivery = world.chance(4)
        if world.chance(world.mixesUp ? 2 : 10) {
            world.claim(isProbe: true)
        } else if world.chance(6) {
            world.isProbingTrouble = true
            world.dispatch.admission.becomeProber()
        }
        return world
    }

    /// Performs one random event.
    mutating func step() {
        now += Int64.random(in: 0...20, using: &random)
        switch Int.random(in: 0..<24, using: &random) {
        case 0...2: answerMark()
        case 3 where !limits.isEmpty: grant()
        case 3...6: depart()
        case 7...11: answer()
        case 12: giveBack()
        case 13:
            giveBack()
            finishRelease()
        case 14 where !resends.isEmpty:
            let place = Int.random(in: 0..<resends.count, using: &random)
            perform(.resendDue(batchID: resends.remove(at: place)))
        case 15...16: store()
        case 17 where chance(2): look()
        case 17: poll()
        case 18 where chance(3): renew()
        case 18 where now >= leaseEnd: perform(.leaseValid(false))
        case 19: takeOver()
        case 20 where isProbingTrouble && !isShuttingDownFast && !isCircuitOpen:
            if dispatch.parts.isEmpty { claim() }
            if !dispatch.admission.mayProbe, dispatch.window.inGateway == 0 { perform(.probe) }
        case 20 where chance(50): perform(.gatewayFailed("ConnectionLost"))
        case 21 where mayClaim && !isProbing && !isProbingTrouble: claim()
        case 22 where chance(10): changeState()
        case 23 where chance(60): fastShutdown()
        case 23 where chance(60): drain()
        case 23 where chance(20): perform(.journalLong(1))
        default: break
        }
    }

    /// Ends the faults, so that everything under way completes.
    mutating func resolve() {
        for id in states.keys where states[id] == .paused { states[id] = .inProgress }
        stopsApplication = false
        mixesUp = false
        stopsDelivery = false
        var steps = 0
        while steps < 30_000 {
            steps += 1
            step()
            for id in states.keys where states[id] == .paused { states[id] = .inProgress }
            if now >= leaseEnd - 100 { renew() }
            if isProbing, dispatch.parts.isEmpty { isCircuitOpen = true }
            let isLeft = parts.values.contains { !$0.isDone && !$0.isClaimed }
            if dispatch.isEmpty, dispatch.endings.releasing.isEmpty, !mayClaim || !isLeft { return }
        }
    }
}
