import Administration
import PushCore
import Store
import WebServer

/// Something that an operator should look at.
struct StatusAlarm: Sendable {
    /// What it is about.
    let subject: String
    /// What is wrong and, where it is known, what to do.
    let text: String

    /// All alarms, hosts first.
    static func all(
        hosts: [HostRow],
        children: [ChildOverview],
        applications: [ApplicationRow],
        health: [ApplicationHealthRow],
        credentials: [CredentialNotice],
        inactive: [InactiveAccount] = [],
        waiting: [WaitingDelivery] = []
    ) -> [StatusAlarm] {
        hosts.flatMap(alarms) + versionAlarm(hosts) + children.compactMap(alarm)
            + health.compactMap { alarm($0, applications) } + credentials.compactMap(alarm) + inactive.map(alarm)
            + waiting.map(alarm)
    }

    /// A target mapping whose view cannot be read.
    static func alarm(ofMapping name: String, _ problem: String) -> StatusAlarm {
        StatusAlarm(
            subject: "target mapping \(name)",
            text: "\(problem) Deliveries that use it wait until it can be read, or until their validity is over."
        )
    }

    /// A delivery that nobody sends, because its account is not active.
    static func alarm(of waiting: InactiveAccount) -> StatusAlarm {
        StatusAlarm(
            subject: "delivery \(waiting.deliveryID)",
            text:
                "its messages wait, as external account \(waiting.account) is not active: pushmta account set \(waiting.account) --enable-active"
        )
    }

    /// A delivery of which something cannot be read.
    static func alarm(of waiting: WaitingDelivery) -> StatusAlarm {
        let what =
            waiting.messages.map { "\($0) of its messages cannot be loaded or sent now" } ?? "it cannot be prepared now"
        return StatusAlarm(
            subject: "delivery \(waiting.deliveryID)",
            text: "\(what), which is tried again each minute until its validity is over: \(waiting.reason)"
        )
    }

    /// A delivery that a child has paused for what the gateway says of it alone; one that somebody paused has no reason.
    static func alarm(ofHeld delivery: DeliveryProgress) -> StatusAlarm? {
        guard delivery.state == .paused, !delivery.stateReason.isEmpty, delivery.parentID == nil else { return nil }
        return StatusAlarm(
            subject: "delivery \(delivery.id)",
            text: "it is paused. \(delivery.stateReason) (pushmta delivery resume \(delivery.id) lets it go on)"
        )
    }

    /// A gateway that takes nothing.
    static func alarm(of trouble: GatewayTroubleRow) -> StatusAlarm {
        StatusAlarm(subject: "application \(trouble.application)", text: trouble.text)
    }

    /// Messages of an application that fail for one and the same reason.
    static func alarm(of failure: MassFailureRow) -> StatusAlarm {
        StatusAlarm(subject: "application \(failure.application)", text: failure.text)
    }

    /// A credential near its end.
    private static func alarm(of credential: CredentialNotice) -> StatusAlarm? {
        guard let left = credential.secondsLeft, ExpiryNotice(secondsLeft: left) != nil else { return nil }
        return StatusAlarm(
            subject: "credential of \(credential.applications.joined(separator: ", "))",
            text:
                "\(credential.kind.text) \(ExpiryNotice.text(secondsLeft: left)): set a new one with pushmta credential set"
        )
    }

    private static func alarms(of host: HostRow) -> [StatusAlarm] {
        let subject = "host \(host.report.name)"
        var alarms: [StatusAlarm] = []
        let silence = "it has said nothing for \(Int(host.heartbeatAgeSeconds)) s"
        switch host.liveness {
        case .late: alarms.append(StatusAlarm(subject: subject, text: silence))
        case .gone:
            alarms.append(
                StatusAlarm(subject: subject, text: "\(silence): look at that host; others take over what it held")
            )
        case .alive, .ended: break
        }
        if !host.report.alarm.isEmpty, host.report.state != .stopped {
            alarms.append(StatusAlarm(subject: subject, text: host.report.alarm))
        }
        return alarms
    }

    private static func versionAlarm(_ hosts: [HostRow]) -> [StatusAlarm] {
        let mixed = hosts.filter(\.isVersionMixed)
        guard !mixed.isEmpty else { return [] }
        let versions = mixed.map { "\($0.report.name) \($0.report.version)" }.joined(separator: ", ")
        return [
            StatusAlarm(
                subject: "versions",
                text: "hosts run different versions (\(versions)): right during an upgrade, to be ended after it"
            )
        ]
    }

    private static func alarm(of child: ChildOverview) -> StatusAlarm? {
        guard child.liveness == .late || child.liveness == .gone else { return nil }
        return StatusAlarm(
            subject: "child \(child.heartbeat.childID)",
            text: "it has said nothing for \(Int(child.heartbeatAgeSeconds)) s"
        )
    }

    private static func alarm(_ row: ApplicationHealthRow, _ applications: [ApplicationRow]) -> StatusAlarm? {
        guard row.state != .closed || !row.reason.isEmpty else { return nil }
        let name = applications.first { $0.id == row.applicationID }?.name ?? String(row.applicationID)
        let kind = row.state == .closed ? "" : "its circuit is open, no message is sent or failed: "
        return StatusAlarm(
            subject: "application \(name)",
            text: kind + row.reason + (row.remedy.isEmpty ? "" : " (\(row.remedy))")
        )
    }
}

/// What an operator should know of the work that waits for a feedback worker.
struct FeedbackNotice: Sendable {
    /// Token events that have waited for so long, in seconds, wait for nobody: a worker looks each second, a supervisor each minute.
    static let oldTokenEvent = 300.0
    /// Hits that were not counted for so long, in seconds.
    static let oldHits = 300.0

    /// What is wrong and what to do.
    let text: String
    /// Whether dead tokens go on getting messages.
    let isSerious: Bool

    /// Nil if nothing is wrong.
    init?(_ backlog: FeedbackBacklog) {
        let age = backlog.oldestTokenEventSeconds ?? 0
        let isOld = age > Self.oldTokenEvent
        guard !isOld else {
            let cause =
                backlog.isWorkerActing
                ? "though a feedback worker acts: its log says why"
                : "and nobody applies them: start `pushmta feedback`"
            text = "token events have waited for \(Int(age)) s, \(cause). Until then dead tokens get messages"
            isSerious = true
            return
        }
        guard !backlog.isWorkerActing else { return nil }
        let hits = backlog.oldestHitSeconds ?? 0
        var waiting: [String] = []
        if backlog.uncountedParts > 0 || hits > Self.oldHits {
            waiting.append("statistics wait (\(backlog.uncountedParts) finished parts are not counted)")
        }
        if backlog.services > 0 {
            waiting.append(
                "nobody asks the feedback services of ios-binary gateways (\(backlog.services)) for dead tokens, which go on getting messages"
            )
        }
        guard !waiting.isEmpty else { return nil }
        waiting.append("nothing is thrown away with age")
        text = "no feedback worker acts: \(waiting.joined(separator: "; ")). Start `pushmta feedback`"
        isSerious = false
    }
}

/// What an operator should know of old things that are held back.
struct RetentionNotice: Sendable {
    /// What is held.
    let subject: String
    /// What is wrong and what to do.
    let text: String

    init(_ hold: RetentionHold) {
        subject = "retention of \(hold.what)"
        text =
            "far more than a day's worth is beyond the time that it is kept for, so nothing goes: the database's clock says \(hold.databaseTime). If that is wrong, set it right. If it is right, because feedback.retention keeps less now or no feedback worker has acted for days, it goes in \(Int(hold.goesInSeconds / 3_600) + 1) h by itself"
    }
}

/// What an operator should know of tracking spools whose process is gone.
struct SpoolNotice: Sendable {
    /// The host that has them.
    let host: String
    /// What is wrong and what to do.
    let text: String

    /// The hosts whose workers see such spools; workers that are gone say nothing of now.
    static func all(_ workers: [FeedbackWorkerRow]) -> [SpoolNotice] {
        var seen: Set<String> = []
        return workers.filter { ($0.state == "acting" || $0.state == "standby") && $0.waitingSpools > 0 }
            .filter { seen.insert($0.host).inserted }
            .map { SpoolNotice(host: $0.host, files: $0.waitingSpools, bytes: $0.waitingSpoolBytes) }
    }

    private init(host: String, files: Int32, bytes: Int64) {
        self.host = host
        text =
            "\(files) tracking spools of web processes that are gone have hits that are not loaded (\(bytes >> 10) KiB can be loaded). If they stay, there are files in web.workingPath that the feedback worker may not open, or that were put aside as .damaged or .unreadable: its log says which"
    }
}

/// What an operator should know of the certificates that web processes serve HTTPS with.
enum WebCertificateNotice {
    private static let remedy =
        "put another one there, then send its process SIGHUP (systemctl reload): it is read again without a restart"

    /// An alarm for a certificate near its end; nil while nobody need know.
    static func alarm(_ row: WebCertificateRow) -> StatusAlarm? {
        guard ExpiryNotice(secondsLeft: row.secondsLeft) != nil else { return nil }
        return StatusAlarm(
            subject: "web process on \(row.host)",
            text: "its certificate \(row.file) \(ExpiryNotice.text(secondsLeft: row.secondsLeft)): \(remedy)"
        )
    }

    /// What the files of this host's settings say; nil if they ask for no HTTPS.
    static func check(_ settings: WebSettings) -> CheckResult? {
        let subject = "web certificate"
        let file = settings.certificateFile
        switch WebCertificateCheck.result(settings) {
        case nil: return nil
        case .unusable(let reason): return CheckResult(subject, .failed, reason)
        case .good(let seconds):
            let text = "\(file) \(ExpiryNotice.text(secondsLeft: seconds))"
            switch ExpiryNotice(secondsLeft: seconds) {
            case nil: return CheckResult(subject, .ok, text)
            case .over: return CheckResult(subject, .failed, "\(text): \(remedy)")
            case .month, .week, .day: return CheckResult(subject, .warning, "\(text): \(remedy)")
            }
        }
    }
}
