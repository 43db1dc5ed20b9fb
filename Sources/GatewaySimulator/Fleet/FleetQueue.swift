import PushCore

/// The simulated devices' work: registrations by number, and reports as pushes arrive.
struct FleetQueue: Sendable {
    private var registrations: [FleetRegistration] = []
    private var reports: [FleetRequest] = []
    /// The index of the next report. Removing the first element would move the whole array each time.
    private var next = 0
    private(set) var counters = FleetCounters()

    mutating func add(_ registration: FleetRegistration) {
        guard !registration.numbers.isEmpty else { return }
        registrations.append(registration)
        counters.waiting += registration.numbers.count
    }

    /// Adds the reports of a push that a device has received; nil for one that it cannot report.
    mutating func add(_ message: FleetMessage?, clicks: Bool) {
        guard let message else {
            counters.untracked += 1
            return
        }
        reports.append(FleetRequest(kind: .receipt, path: message.path(.receipt)))
        counters.waiting += 1
        guard clicks, message.isVisible else { return }
        reports.append(FleetRequest(kind: .click, path: message.path(.click)))
        counters.waiting += 1
    }

    /// Removes and returns the next request.
    mutating func take() -> FleetRequest? {
        if next < reports.count {
            defer {
                next += 1
                if next == reports.count {
                    reports.removeAll(keepingCapacity: true)
                    next = 0
                }
            }
            return reports[next]
        }
        guard let first = registrations.first, let number = first.numbers.first else { return nil }
        registrations[0].numbers = number + 1..<first.numbers.upperBound
        if registrations[0].numbers.isEmpty { registrations.removeFirst() }
        return FleetRequest(kind: .registration, path: first.path, body: first.body(number))
    }

    /// Counts the end of a request; the status is nil without an answer.
    mutating func finish(_ request: FleetRequest, status: Int?) {
        counters.waiting -= 1
        guard status == 200 else {
            counters.failed += 1
            return
        }
        switch request.kind {
        case .registration: counters.registered += 1
        case .receipt: counters.received += 1
        case .click: counters.clicked += 1
        }
    }
}
