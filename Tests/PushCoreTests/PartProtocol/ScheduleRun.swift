import TestSupport

@testable import PushCore

/// Runs random schedules through the model, checks its promises after every event, and counts what happened.
struct ScheduleRun {
    /// What the schedules of a run got to.
    struct Coverage {
        var schedules = 0
        var events = 0
        var finished = 0
        var ambiguous = 0
        var late = 0
        var fenced = 0
        var uniqueViolations = 0
        var handedOver = 0
        var duplicates = 0
        var unknown = 0
        var canceled = 0

        mutating func add(_ other: Coverage) {
            schedules += other.schedules
            events += other.events
            finished += other.finished
            ambiguous += other.ambiguous
            late += other.late
            fenced += other.fenced
            uniqueViolations += other.uniqueViolations
            handedOver += other.handedOver
            duplicates += other.duplicates
            unknown += other.unknown
            canceled += other.canceled
        }
    }

    /// A broken promise, and the schedule that broke it.
    struct Failure: Error, CustomStringConvertible {
        let violation: String
        let seed: UInt64
        let policy: AmbiguityPolicy
        let events: [PartEvent]

        var description: String {
            let steps = events.map { "  \($0)" }.joined(separator: "\n")
            return "\(violation) (schedule seed \(seed), policy \(policy)):\n\(steps)"
        }
    }

    /// The last owner never fails: it finishes what the others left.
    private static let owners = 4
    private static let maxFinish = 400

    private(set) var coverage = Coverage()
    private let templates: [PartModel]

    init(guards: PartGuards) {
        let shapes = [[3], [4], [2, 2], [3, 3]]
        templates = shapes.flatMap { sizes in
            AmbiguityPolicy.allCases.map {
                PartModel(partSizes: sizes, owners: Self.owners, policy: $0, maxAttempts: 2, guards: guards)
            }
        }
    }

    /// Runs so many schedules; schedule i has the seed `seed + i`.
    mutating func run(schedules: Int, seed: UInt64) throws(Failure) {
        for index in 0..<schedules {
            let scheduleSeed = seed &+ UInt64(index)
            // Recording the events takes time, so only a schedule that fails is run again with it.
            guard schedule(scheduleSeed, recordingInto: nil) != nil else { continue }
            let recorder = EventRecorder()
            let violation = schedule(scheduleSeed, recordingInto: recorder) ?? "not repeatable"
            let policy = template(TestRandom(seed: scheduleSeed)).policy
            throw Failure(violation: violation, seed: scheduleSeed, policy: policy, events: recorder.events)
        }
    }

    private func template(_ random: TestRandom) -> PartModel {
        var random = random
        return templates[random.below(templates.count)]
    }

    private mutating func schedule(_ seed: UInt64, recordingInto recorder: EventRecorder?) -> String? {
        var generator = ScheduleGenerator(random: TestRandom(seed: seed))
        var model = templates[generator.random.below(templates.count)]
        coverage.schedules += 1
        let length = 6 + generator.random.below(21)
        for _ in 0..<length {
            let event = generator.event(&model, owners: Self.owners - 1)
            if let violation = step(event, &model, recorder) { return violation }
        }
        if let violation = recover(&model, &generator, recorder) { return violation }
        if generator.random.oneIn(8), let violation = finish(&model, &generator, recorder) { return violation }
        if !(model.delivered.twice).isEmpty { coverage.duplicates += 1 }
        if !model.unknown.isEmpty { coverage.unknown += 1 }
        if !model.canceledRest.isEmpty { coverage.canceled += 1 }
        return nil
    }

    /// Everyone but the last owner dies, and the supervisors clean up: then every part must be free or done.
    private mutating func recover(
        _ model: inout PartModel,
        _ generator: inout ScheduleGenerator,
        _ recorder: EventRecorder?
    ) -> String? {
        for owner in 0..<Self.owners - 1 {
            let state = model.owners[owner]
            if state.isRunning, let violation = step(.crash(owner: owner), &model, recorder) { return violation }
            if state.hasJournal, let violation = step(.replay(owner: owner, replyArrives: true), &model, recorder) {
                return violation
            }
            let isOnItsWay = model.owners[owner].store.phase == .sent
            if isOnItsWay, generator.random.oneIn(2),
                let violation = step(.executeStore(owner: owner), &model, recorder)
            {
                return violation
            }
        }
        for part in model.parts.indices where model.parts[part].state == .claimed {
            for event in [PartEvent.observe(part: part), .sweep(part: part)] {
                if let violation = step(event, &model, recorder) { return violation }
            }
        }
        if !model.stray.isEmpty, let violation = step(.processStray(model.stray), &model, recorder) { return violation }
        return model.parts.contains { $0.state == .claimed } ? "a part stays claimed after recovery" : nil
    }

    /// The last owner sends what is left.
    private mutating func finish(
        _ model: inout PartModel,
        _ generator: inout ScheduleGenerator,
        _ recorder: EventRecorder?
    ) -> String? {
        for _ in 0..<Self.maxFinish where !model.isFinished {
            if let violation = step(generator.progress(&model, Self.owners - 1), &model, recorder) { return violation }
        }
        coverage.finished += 1
        return model.isFinished ? nil : "the delivery does not end"
    }

    private mutating func step(_ event: PartEvent, _ model: inout PartModel, _ recorder: EventRecorder?) -> String? {
        recorder?.events.append(event)
        coverage.events += 1
        let actions = model.handle(event)
        if actions.isEmpty { return model.violation }
        for action in actions {
            switch action {
            case .ambiguous: coverage.ambiguous += 1
            case .recordedLate: coverage.late += 1
            case .fenced: coverage.fenced += 1
            case .uniqueViolation: coverage.uniqueViolations += 1
            case .handedOver: coverage.handedOver += 1
            case .claimed, .delivered, .recorded, .released, .closed: break
            }
        }
        return model.violation
    }
}

/// Keeps the events of one schedule.
final class EventRecorder {
    var events: [PartEvent] = []
}
