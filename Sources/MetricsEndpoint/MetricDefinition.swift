/// The declaration of a metric: the pages of the processes and the reference `Deploy/guide/metrics.md` are made of it.
public struct MetricDefinition: Sendable, Hashable {
    /// What kind of figure it is, in Prometheus' words.
    public enum Kind: String, Sendable, Hashable {
        /// Only grows, from 0 at the start of the process on.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values by size.
        case histogram
    }

    public enum Source: String, Sendable, Hashable {
        /// Supervisor, feedback worker, web process and console.
        case all
        /// The supervisor, for itself and its children.
        case supervisor
        case feedback
        case web
    }

    public let metric: Metric
    public let name: String
    public let kind: Kind
    /// The names of its labels. None is ever a delivery, token or user: there are as many series as applications, gateways and hosts, and no more.
    public let labels: [String]
    public let source: Source
    public let help: String
    /// What to do about it.
    public let action: String

    init(
        _ metric: Metric,
        _ name: String,
        _ kind: Kind,
        _ labels: [String],
        _ source: Source,
        help: String,
        action: String
    ) {
        self.metric = metric
        self.name = name
        self.kind = kind
        self.labels = labels
        self.source = source
        self.help = help
        self.action = action
    }
}

extension MetricDefinition {
    /// Every metric, in the order of pages and reference.
    public static let all: [MetricDefinition] = sections.flatMap(\.rows)

    /// A part of the reference.
    struct Section: Sendable {
        let title: String
        let rows: [MetricDefinition]
    }

    static let sections: [Section] = [
        Section(title: "Every process", rows: general),
        Section(title: "Messages, as the children of a supervisor tell", rows: messages),
        Section(title: "Children and host", rows: children),
        Section(
            title:
                "The database, as each supervisor reads it every 10 seconds: the same on each host, so take the max over hosts",
            rows: database
        ),
        Section(title: "Feedback worker", rows: feedback),
        Section(title: "Web process", rows: web),
    ]

    private static let general: [MetricDefinition] = [
        .init(
            .buildInfo,
            "pushmta_build_info",
            .gauge,
            ["process", "version"],
            .all,
            help: "1; the labels say which process and version it is.",
            action: "Hosts of different versions are right during an upgrade only."
        ),
        .init(
            .databaseUp,
            "pushmta_database_up",
            .gauge,
            [],
            .all,
            help:
                "1 if the database takes writes, which the process tries every few seconds, else 0: also if it is read-only, or has committed nothing for 10 s. Not of the console, which uses it only when a person asks.",
            action: "0: see the runbook of PushmtaDatabaseUnreachable."
        ),
        .init(
            .processCPU,
            "process_cpu_seconds_total",
            .counter,
            [],
            .all,
            help: "Processor time of the process itself, without children.",
            action: "Compare with the time before; a supervisor takes next to nothing."
        ),
        .init(
            .processMemory,
            "process_resident_memory_bytes",
            .gauge,
            [],
            .all,
            help: "Resident memory of the process.",
            action: "Growing for hours: keep the log, start the process again, report it."
        ),
        .init(
            .processDescriptors,
            "process_open_fds",
            .gauge,
            [],
            .all,
            help: "Open descriptors.",
            action: "Near process_max_fds: raise LimitNOFILE= of the unit."
        ),
        .init(
            .processMostDescriptors,
            "process_max_fds",
            .gauge,
            [],
            .all,
            help: "Descriptors that the process may open.",
            action: "LimitNOFILE= of the unit."
        ),
        .init(
            .processStart,
            "process_start_time_seconds",
            .gauge,
            [],
            .all,
            help: "When the process was started, in seconds since 1970.",
            action: "Changes without your doing: its log says why it ended."
        ),
    ]

    private static let messages: [MetricDefinition] = [
        .init(
            .messages,
            "pushmta_messages_total",
            .counter,
            ["app", "gateway", "outcome", "reason_class"],
            .supervisor,
            help: """
                Messages that got an outcome. outcome: sent, failed, ignored, canceled, not_applicable, unknown; reason_class: \
                none, expired, or Adobe's failure reasons user_unknown, unreachable, refused, undefined. What a killed child \
                did in its last second is missing; delivery_progress has the exact counts.
                """,
            action: """
                failed grows faster than usual: `pushmta delivery status` names the reasons, `pushmta answers` says what they \
                mean.
                """
        ),
        .init(
            .retries,
            "pushmta_retries_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Messages that were put off, to be sent again.",
            action: "Grows with the gateway's refusals; see pushmta_trouble_state."
        ),
        .init(
            .ambiguous,
            "pushmta_ambiguous_total",
            .counter,
            ["app", "gateway", "decision"],
            .supervisor,
            help: """
                Messages that a gateway may have had without an answer that we know. decision: resent, or unknown (not sent \
                again).
                """,
            action: "See the runbook of PushmtaAmbiguousMessages; pushmta.ambiguous_message names them."
        ),
        .init(
            .late,
            "pushmta_late_outcomes_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Answers that were stored for a child that had lost its part.",
            action:
                "Some after a host was cut off; steady ones: the database is slow, look at pushmta_database_seconds."
        ),
        .init(
            .childEvents,
            "pushmta_child_events_total",
            .counter,
            ["app", "gateway", "event"],
            .supervisor,
            help: "What else children count. event: throttled (messages answered with 429).",
            action: "throttled: the gateway wants fewer messages; PushMTA slows down by itself, rates set a limit."
        ),
        .init(
            .messageSeconds,
            "pushmta_message_seconds",
            .histogram,
            ["app", "gateway"],
            .supervisor,
            help: """
                Time of a single message from when it was due (its commit, or its next attempt) to the gateway's answer.
                """,
            action: "Slow while pushmta_gateway_seconds is not: a rate, or too few children; `pushmta explain`."
        ),
        .init(
            .gatewaySeconds,
            "pushmta_gateway_seconds",
            .histogram,
            ["app", "gateway"],
            .supervisor,
            help: "From writing a message to the gateway's answer.",
            action: "Slow: the gateway or the way to it; children open more connections by themselves."
        ),
        .init(
            .databaseSeconds,
            "pushmta_database_seconds",
            .histogram,
            ["operation"],
            .supervisor,
            help: """
                Time of children's work with the database. operation: claim (taking parts), load (reading tokens and fields), \
                mark (the commit before messages leave), store (outcomes, with their commit).
                """,
            action: "Above 0.1 s: see the runbook of PushmtaDatabaseSlow."
        ),
        .init(
            .inFlight,
            "pushmta_in_flight",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Messages handed to the gateway whose outcome is not stored.",
            action: "At pushmta_window for long: the gateway or the database is slow."
        ),
        .init(
            .connections,
            "pushmta_connections",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Connections to the gateway that take messages.",
            action: "0 while messages wait: see the runbook of PushmtaGatewayTrouble."
        ),
        .init(
            .window,
            "pushmta_window",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Messages that may be without a stored outcome at once; grows with the gateway's latency.",
            action: "None."
        ),
        .init(
            .partsHeld,
            "pushmta_parts_held",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Parts that children hold a lease on.",
            action: "None."
        ),
    ]

    private static let children: [MetricDefinition] = [
        .init(
            .children,
            "pushmta_children",
            .gauge,
            ["app", "gateway", "state"],
            .supervisor,
            help: "Children by what they do: starting, idle, sending, stalled, probing, draining.",
            action: "stalled for long: the last error in `pushmta status` says why."
        ),
        .init(
            .mostChildren,
            "pushmta_max_children",
            .gauge,
            [],
            .supervisor,
            help: "Children that the settings allow (mta.master.maxSpareServers and maxSmallChildren).",
            action: "All busy and pushmta_queue_age_seconds grows: allow more, or add a host."
        ),
        .init(
            .childCPU,
            "pushmta_children_cpu_seconds_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Processor time of children.",
            action: "Per message it is a few microseconds."
        ),
        .init(
            .childMemory,
            "pushmta_children_resident_bytes",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Resident memory of children.",
            action: "A child above mta.child.maxWorkingSetMb is replaced."
        ),
        .init(
            .childrenEnded,
            "pushmta_children_ended_total",
            .counter,
            ["reason"],
            .supervisor,
            help: "Children that ended, by the reason that mta_child has.",
            action: "signalled, stuck, out_of_memory, internal_error: see the runbook of PushmtaChildrenDie."
        ),
        .init(
            .throttledKinds,
            "pushmta_throttled_kinds",
            .gauge,
            [],
            .supervisor,
            help: "Applications whose children die before their first message, and are started rarely.",
            action: "`pushmta status --ended` shows the tail of their standard error."
        ),
        .init(
            .claiming,
            "pushmta_supervisor_claiming",
            .gauge,
            [],
            .supervisor,
            help: "1 while the supervisor takes work, 0 while it drains.",
            action: "0 for long: what its children still hold stands in `pushmta status`."
        ),
        .init(
            .journalBytes,
            "pushmta_journal_bytes",
            .gauge,
            [],
            .supervisor,
            help: "Bytes of journals in mta.workingPath.",
            action: "Large: outcomes wait for the database."
        ),
        .init(
            .journalDiskFree,
            "pushmta_journal_disk_free_bytes",
            .gauge,
            [],
            .supervisor,
            help: "Bytes left on the disk of the journals.",
            action: "See the runbook of PushmtaJournalDisk."
        ),
        .init(
            .journalWritable,
            "pushmta_journal_writable",
            .gauge,
            [],
            .supervisor,
            help: "1 while journals can be written; else no child is started.",
            action: "See the runbook of PushmtaJournalDisk."
        ),
        .init(
            .journalsPutAside,
            "pushmta_journals_put_aside",
            .gauge,
            [],
            .supervisor,
            help: "Journals in the folder that could not be replayed.",
            action: "See the runbook of PushmtaJournalsPutAside."
        ),
        .init(
            .journalReplayed,
            "pushmta_journal_replayed_total",
            .counter,
            [],
            .supervisor,
            help: "Outcomes that came from journals of dead children.",
            action: "None: nothing was lost."
        ),
    ]

    private static let database: [MetricDefinition] = [
        .init(
            .figuresAge,
            "pushmta_database_figures_age_seconds",
            .gauge,
            [],
            .supervisor,
            help: "Since when the figures below were not read. They are left out when it is above 60.",
            action: "Grows: the database is away, or slow."
        ),
        .init(
            .figuresSeconds,
            "pushmta_database_figures_seconds",
            .gauge,
            [],
            .supervisor,
            help: "How long it took to read them.",
            action: "Above 0.5: the database is busy, or its statistics are old (ANALYZE)."
        ),
        .init(
            .alarms,
            "pushmta_alarms",
            .gauge,
            ["code", "severity"],
            .supervisor,
            help: """
                Alarms of pushmta.alarm by code and severity, critical or warning; 0 once a code's alarms are over. Read separately, \
                so they work while tables are locked.
                """,
            action: "`pushmta status` says what each is about, and what to do."
        ),
        .init(
            .deliveries,
            "pushmta_deliveries",
            .gauge,
            ["state"],
            .supervisor,
            help: """
                Deliveries under way by state: pending, preparing, in_progress, paused; waiting: cannot be prepared now; failed: in \
                the last hour.
                """,
            action: "waiting, failed: see the runbooks of PushmtaDeliveryWaits and PushmtaDeliveryFailed."
        ),
        .init(
            .hosts,
            "pushmta_hosts",
            .gauge,
            ["health"],
            .supervisor,
            help: "Hosts by the age of their heartbeat: alive, late (5 s), gone (15 s), stopped (in order).",
            action: "gone: pushmta_host_gone says which."
        ),
        .init(
            .hostGone,
            "pushmta_host_gone",
            .gauge,
            ["host"],
            .supervisor,
            help: """
                1 for a host that has been silent for 15 s and did not end in order, 0 for one that is alive. A supervisor whose own \
                heartbeats do not reach the database says 0, as it knows nothing of others.
                """,
            action: "1: see the runbook of PushmtaHostGone."
        ),
        .init(
            .readyMessages,
            "pushmta_ready_messages",
            .gauge,
            ["app", "lane"],
            .supervisor,
            help: """
                Messages of parts that are due and that nobody has claimed; at most 1,000 parts of each application, gateway \
                and priority are counted. lane: transactional (priority 50 and above, where single messages go) or bulk.
                """,
            action: "See pushmta_queue_age_seconds."
        ),
        .init(
            .claimedMessages,
            "pushmta_claimed_messages",
            .gauge,
            ["app", "lane"],
            .supervisor,
            help: "Messages without an outcome that children have claimed: they are on their way, or wait for a rate.",
            action: "See pushmta_queue_age_seconds."
        ),
        .init(
            .queueAge,
            "pushmta_queue_age_seconds",
            .gauge,
            ["app", "lane"],
            .supervisor,
            help: "How long the oldest message without an outcome has been due, whether a child has claimed it or not.",
            action: "See the runbook of PushmtaQueueOld."
        ),
        .init(
            .circuit,
            "pushmta_circuit_state",
            .gauge,
            ["app"],
            .supervisor,
            help: "0: closed; 1: open, nothing of the application is sent but a probe now and then.",
            action: "See the runbook of PushmtaCircuitOpen."
        ),
        .init(
            .trouble,
            "pushmta_trouble_state",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help:
                "0: well; 1: the gateway takes messages again and the rate grows; 2: it takes nothing, and is probed.",
            action: "See the runbook of PushmtaGatewayTrouble."
        ),
        .init(
            .quota,
            "pushmta_quota_used_ratio",
            .gauge,
            ["scope", "name"],
            .supervisor,
            help: """
                Share of a limit of messages a second that was used since the last look; scope: application, account or \
                project.
                """,
            action: "Near 1 while messages wait: the limit is what holds them."
        ),
        .init(
            .rateHolds,
            "pushmta_rate_in_use",
            .gauge,
            ["app"],
            .supervisor,
            help: """
                1 while a limit of messages a second that was set for a delivery, the application or its account holds messages of \
                the application back.
                """,
            action: "These messages are meant to wait: PushmtaBulkQueueOld does not fire."
        ),
        .init(
            .credentialExpiry,
            "pushmta_credential_expiry_seconds",
            .gauge,
            ["app"],
            .supervisor,
            help: """
                Seconds until the application's credential ends; negative when it has. Keys without an end have no sample.
                """,
            action: "See the runbook of PushmtaCredentialExpires."
        ),
        .init(
            .feedbackActing,
            "pushmta_feedback_workers_acting",
            .gauge,
            [],
            .supervisor,
            help: "Whether a feedback worker acts, on any host: 1 or 0.",
            action: "See the runbook of PushmtaNoFeedbackWorker."
        ),
        .init(
            .tokenEventAge,
            "pushmta_token_event_age_seconds",
            .gauge,
            [],
            .supervisor,
            help: "Since when the oldest token event waits to be applied; 0 when none waits.",
            action: "Hours: see the runbook of PushmtaNoFeedbackWorker."
        ),
        .init(
            .retentionHolds,
            "pushmta_retention_holds",
            .gauge,
            [],
            .supervisor,
            help: "Things that are so far beyond their time that they are held for a day before they are deleted.",
            action: "See the runbook of PushmtaRetentionHeld."
        ),
        .init(
            .replicationLag,
            "pushmta_replication_lag_seconds",
            .gauge,
            ["replica"],
            .supervisor,
            help: """
                How far a replica is behind (replay_lag), by the application_name of its connection. Needs the right \
                pg_monitor.
                """,
            action: "See the runbook of PushmtaReplicationLag."
        ),
        .init(
            .replicas,
            "pushmta_replicas",
            .gauge,
            ["sync"],
            .supervisor,
            help: "Replicas that stream, sync: yes if a commit waits for it, else no. Needs the right pg_monitor.",
            action: "No sync=yes: a fail-over may lose what was committed last."
        ),
        .init(
            .oldestSnapshot,
            "pushmta_oldest_snapshot_seconds",
            .gauge,
            [],
            .supervisor,
            help: """
                Age of the oldest transaction that keeps dead rows from being removed, in this database; of other roles only \
                with pg_monitor.
                """,
            action: "See the runbook of PushmtaOldSnapshot."
        ),
        .init(
            .deadRows,
            "pushmta_dead_rows",
            .gauge,
            ["table"],
            .supervisor,
            help: "Dead rows of our tables, with their partitions.",
            action: "See the runbook of PushmtaOldSnapshot."
        ),
    ]

    private static let feedback: [MetricDefinition] = [
        .init(
            .isActing,
            "pushmta_feedback_is_acting",
            .gauge,
            [],
            .feedback,
            help: "1 in the worker that acts, 0 in those that stand by.",
            action: "None: exactly one acts."
        ),
        .init(
            .feedbackDone,
            "pushmta_feedback_done_total",
            .counter,
            ["work"],
            .feedback,
            help: """
                What this worker did: token_events, outcomes (counted for statistics), hits (counted), hits_loaded (from \
                spools of its host).
                """,
            action: "None of any for hours while messages are sent: its log."
        ),
        .init(
            .spoolFiles,
            "pushmta_spool_files",
            .gauge,
            [],
            .feedback,
            help: "Spools of web processes of this host that wait to be loaded.",
            action: "See the runbook of PushmtaSpoolFills."
        ),
        .init(
            .waitingSpoolBytes,
            "pushmta_spool_waiting_bytes",
            .gauge,
            [],
            .feedback,
            help: "Bytes of these spools.",
            action: "See the runbook of PushmtaSpoolFills."
        ),
    ]

    private static let web: [MetricDefinition] = [
        .init(
            .webReady,
            "pushmta_web_ready",
            .gauge,
            [],
            .web,
            help: "1 when /health/ready answers 200.",
            action: "/health/ready says why not."
        ),
        .init(
            .webRequests,
            "pushmta_web_requests_total",
            .counter,
            ["endpoint", "code"],
            .web,
            help:
                "Answers by endpoint (tracking, register_ios, register_android, api, health, test, other) and status.",
            action: "5xx: see the runbook of PushmtaWebErrors."
        ),
        .init(
            .registrations,
            "pushmta_registrations_total",
            .counter,
            ["result"],
            .web,
            help: """
                Registrations: created, updated, disabled (opted out), unproven (without the proof that their service asks \
                for), cut (with more undeclared values than are kept).
                """,
            action:
                "unproven grows: a client registers for others, or an app lacks the proof. cut: declare what the app sends."
        ),
        .init(
            .hits,
            "pushmta_hits_total",
            .counter,
            ["result"],
            .web,
            help: """
                Tracking hits: stored, spooled (to disk), loaded (from disk); and dropped: malformed, forged, foreign, \
                expired.
                """,
            action: "forged: somebody guesses ids."
        ),
        .init(
            .webLimited,
            "pushmta_web_limited_total",
            .counter,
            ["reason"],
            .web,
            help: """
                Requests or connections that were refused: rate (of an address), crowded (too many at once of a client).
                """,
            action: "Real devices among them: raise web.limits.*, or set web.limits.trustedProxies."
        ),
        .init(
            .webWaiting,
            "pushmta_web_waiting",
            .gauge,
            ["kind"],
            .web,
            help: "Registrations and hits that wait for their transaction.",
            action: "Thousands: the database is slow."
        ),
        .init(
            .spoolBytes,
            "pushmta_spool_bytes",
            .gauge,
            [],
            .web,
            help: "Bytes of hits on disk.",
            action: "See the runbook of PushmtaSpoolFills."
        ),
        .init(
            .spoolCapacity,
            "pushmta_spool_capacity_bytes",
            .gauge,
            [],
            .web,
            help: "Bytes that spools may take (web.tracking.maxSpoolMb).",
            action: "None."
        ),
        .init(
            .unreadableApplications,
            "pushmta_web_unreadable_applications",
            .gauge,
            [],
            .web,
            help: "Applications whose declarations cannot be read, so that their devices get 503.",
            action: "The log names them."
        ),
        .init(
            .webCertificateExpiry,
            "pushmta_web_certificate_expiry_seconds",
            .gauge,
            [],
            .web,
            help: "Seconds until the certificate of web.tlsPort ends; no sample without one.",
            action: "See the runbook of PushmtaWebCertificateExpires."
        ),
    ]
}
