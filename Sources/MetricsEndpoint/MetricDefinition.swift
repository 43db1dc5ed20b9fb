/// The declaration of a metric. The pages of the processes and the reference `Deploy/guide/metrics.md` are generated
/// from it.
package struct MetricDefinition: Sendable, Hashable {
    /// The type of a metric, as Prometheus defines it.
    package enum Kind: String, Sendable, Hashable {
        /// Only increases, from 0 at the start of the process.
        case counter
        /// Goes up and down.
        case gauge
        /// Counts values by size.
        case histogram
    }

    package enum Source: String, Sendable, Hashable {
        /// Supervisor, feedback worker, web process and console.
        case all
        /// The supervisor, for itself and its children.
        case supervisor
        case feedback
        case web
    }

    package let metric: Metric
    package let name: String
    package let kind: Kind
    /// The names of its labels; never a delivery, token or user, so that the number of series grows only with
    /// applications, gateways and hosts.
    package let labels: [String]
    package let source: Source
    package let help: String
    /// What to do about it.
    package let action: String

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
    package static let all: [MetricDefinition] = sections.flatMap(\.rows)

    /// A section of the reference.
    struct Section: Sendable {
        let title: String
        let rows: [MetricDefinition]
    }

    static let sections: [Section] = [
        Section(title: "Every process", rows: general),
        Section(title: "Messages, as reported by the children of a supervisor", rows: messages),
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
            help: "1; the labels name the process and its version.",
            action: "Hosts should differ in version only during an upgrade."
        ),
        .init(
            .databaseUp,
            "pushmta_database_up",
            .gauge,
            [],
            .all,
            help: """
                1 if the database takes writes, else 0. The process writes every few seconds; a read-only \
                database, or no commit for 10 s, is 0. Absent on the console, which uses the database only at a \
                user's request.
                """,
            action: "0: see the runbook of PushmtaDatabaseUnreachable."
        ),
        .init(
            .processCPU,
            "process_cpu_seconds_total",
            .counter,
            [],
            .all,
            help: "Processor time of the process itself, without its children.",
            action: "Compare with earlier values; a supervisor uses almost nothing."
        ),
        .init(
            .processMemory,
            "process_resident_memory_bytes",
            .gauge,
            [],
            .all,
            help: "Resident memory of the process.",
            action: "Grows for hours: keep the log, restart the process, report it."
        ),
        .init(
            .processDescriptors,
            "process_open_fds",
            .gauge,
            [],
            .all,
            help: "Open file descriptors.",
            action: "Near process_max_fds: raise LimitNOFILE= of the unit."
        ),
        .init(
            .processMostDescriptors,
            "process_max_fds",
            .gauge,
            [],
            .all,
            help: "Maximum number of open file descriptors.",
            action: "Set by LimitNOFILE= of the unit."
        ),
        .init(
            .processStart,
            "process_start_time_seconds",
            .gauge,
            [],
            .all,
            help: "When the process started, in seconds since 1970.",
            action: "Changes without your action: its log says why it ended."
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
                Messages with an outcome. outcome: sent, failed, ignored, canceled, not_applicable, unknown; \
                reason_class: none, expired, or Adobe's failure reasons user_unknown, unreachable, refused, \
                undefined. The last second of a killed child is missing; delivery_progress has the exact counts.
                """,
            action: """
                failed grows faster than usual: `pushmta delivery status` names the reasons, `pushmta answers` \
                explains them.
                """
        ),
        .init(
            .retries,
            "pushmta_retries_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Messages deferred to be sent again.",
            action: "Grows with the gateway's refusals; see pushmta_trouble_state."
        ),
        .init(
            .ambiguous,
            "pushmta_ambiguous_total",
            .counter,
            ["app", "gateway", "decision"],
            .supervisor,
            help: """
                Messages that a gateway may have received, but whose answer is unknown. decision: resent, or \
                unknown (not sent again).
                """,
            action: "See the runbook of PushmtaAmbiguousMessages; pushmta.ambiguous_message lists them."
        ),
        .init(
            .late,
            "pushmta_late_outcomes_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Answers stored for a child that had lost its part.",
            action: """
                Some are normal after a host was cut off. If they continue, the database is slow: check \
                pushmta_database_seconds.
                """
        ),
        .init(
            .childEvents,
            "pushmta_child_events_total",
            .counter,
            ["app", "gateway", "event"],
            .supervisor,
            help: "Other counters of children. event: throttled (messages answered with 429).",
            action: """
                throttled: the gateway wants fewer messages; PushMTA slows down automatically, and rates set a \
                limit.
                """
        ),
        .init(
            .messageSeconds,
            "pushmta_message_seconds",
            .histogram,
            ["app", "gateway"],
            .supervisor,
            help: """
                Time of a single message from when it was due (its commit or its next attempt) to the gateway's \
                answer.
                """,
            action: """
                High while pushmta_gateway_seconds is low: a rate limit, or too few children; see `pushmta \
                explain`.
                """
        ),
        .init(
            .gatewaySeconds,
            "pushmta_gateway_seconds",
            .histogram,
            ["app", "gateway"],
            .supervisor,
            help: "Time from writing a message to the gateway's answer.",
            action: "High: the gateway or the way to it is slow; children open more connections automatically."
        ),
        .init(
            .databaseSeconds,
            "pushmta_database_seconds",
            .histogram,
            ["operation"],
            .supervisor,
            help: """
                Time of children's database operations. operation: claim (taking parts), load (reading tokens and \
                fields), mark (the commit before messages leave), store (outcomes, with their commit).
                """,
            action: "Above 0.1 s: see the runbook of PushmtaDatabaseSlow."
        ),
        .init(
            .inFlight,
            "pushmta_in_flight",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Messages passed to the gateway whose outcome is not stored yet.",
            action: "At pushmta_window for long: the gateway or the database is slow."
        ),
        .init(
            .connections,
            "pushmta_connections",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Connections to the gateway that accept messages.",
            action: "0 while messages wait: see the runbook of PushmtaGatewayTrouble."
        ),
        .init(
            .window,
            "pushmta_window",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "Maximum number of messages without a stored outcome; grows with the gateway's latency.",
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
            help: "Children by state: starting, idle, sending, stalled, probing, draining.",
            action: "stalled for long: the last error in `pushmta status` says why."
        ),
        .init(
            .maxChildren,
            "pushmta_max_children",
            .gauge,
            [],
            .supervisor,
            help: "Maximum number of children (mta.master.maxSpareServers and maxSmallChildren).",
            action: "All busy while pushmta_queue_age_seconds grows: raise the maximum, or add a host."
        ),
        .init(
            .childCPU,
            "pushmta_children_cpu_seconds_total",
            .counter,
            ["app", "gateway"],
            .supervisor,
            help: "Processor time of children.",
            action: "A few microseconds per message are normal."
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
            help: "Children that ended, by the reason in mta_child.",
            action: "signalled, stuck, out_of_memory, internal_error: see the runbook of PushmtaChildrenDie."
        ),
        .init(
            .throttledKinds,
            "pushmta_throttled_kinds",
            .gauge,
            [],
            .supervisor,
            help: "Applications whose children die before their first message and are therefore started rarely.",
            action: "`pushmta status --ended` shows the tail of their standard error."
        ),
        .init(
            .claiming,
            "pushmta_supervisor_claiming",
            .gauge,
            [],
            .supervisor,
            help: "1 while the supervisor claims work, 0 while it drains.",
            action: "0 for long: `pushmta status` shows what its children still hold."
        ),
        .init(
            .journalBytes,
            "pushmta_journal_bytes",
            .gauge,
            [],
            .supervisor,
            help: "Total size of the journals in mta.workingPath.",
            action: "Large: outcomes wait for the database."
        ),
        .init(
            .journalDiskFree,
            "pushmta_journal_disk_free_bytes",
            .gauge,
            [],
            .supervisor,
            help: "Free bytes on the disk of the journals.",
            action: "See the runbook of PushmtaJournalDisk."
        ),
        .init(
            .journalWritable,
            "pushmta_journal_writable",
            .gauge,
            [],
            .supervisor,
            help: "1 while journals can be written; otherwise no child is started.",
            action: "See the runbook of PushmtaJournalDisk."
        ),
        .init(
            .journalsPutAside,
            "pushmta_journals_put_aside",
            .gauge,
            [],
            .supervisor,
            help: "Journals put aside in the folder: damaged, old copies, or of another host or database.",
            action: "See the runbook of PushmtaJournalsPutAside."
        ),
        .init(
            .journalReplayed,
            "pushmta_journal_replayed_total",
            .counter,
            [],
            .supervisor,
            help: "Outcomes recovered from journals of dead children.",
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
            help: "Age of the figures below. They are left out when it exceeds 60.",
            action: "Grows: the database is down or slow."
        ),
        .init(
            .figuresSeconds,
            "pushmta_database_figures_seconds",
            .gauge,
            [],
            .supervisor,
            help: "How long it took to read them.",
            action: "Above 0.5: the database is busy, or its statistics are outdated (ANALYZE)."
        ),
        .init(
            .alarms,
            "pushmta_alarms",
            .gauge,
            ["code", "severity"],
            .supervisor,
            help: """
                Alarms of pushmta.alarm by code and severity, critical or warning; 0 once the alarms of a code \
                have ended. Read separately, so they are available while tables are locked.
                """,
            action: "`pushmta status` says what each alarm is about, and what to do."
        ),
        .init(
            .deliveries,
            "pushmta_deliveries",
            .gauge,
            ["state"],
            .supervisor,
            help: """
                Open deliveries by state: analysing, pending, preparing, in_progress, paused. waiting: cannot be \
                prepared now.
                """,
            action: "waiting: see the runbook of PushmtaDeliveryWaits."
        ),
        .init(
            .hosts,
            "pushmta_hosts",
            .gauge,
            ["health"],
            .supervisor,
            help: "Hosts by the age of their heartbeat: alive, late (5 s), gone (15 s); stopped (ended in order).",
            action: "gone: pushmta_host_gone names the host."
        ),
        .init(
            .hostGone,
            "pushmta_host_gone",
            .gauge,
            ["host"],
            .supervisor,
            help: """
                1 for a host that has been silent for 15 s and did not end in order, 0 for a live host. A \
                supervisor whose own heartbeats do not reach the database reports 0, because it knows nothing \
                about others.
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
                Messages of parts that are due and not claimed; at most 1,000 parts of each application, gateway \
                and priority are counted. lane: transactional (priority 50 and above, including single messages) \
                or bulk.
                """,
            action: "See pushmta_queue_age_seconds."
        ),
        .init(
            .claimedMessages,
            "pushmta_claimed_messages",
            .gauge,
            ["app", "lane"],
            .supervisor,
            help: "Messages without an outcome that children have claimed: on their way, or waiting for a rate.",
            action: "See pushmta_queue_age_seconds."
        ),
        .init(
            .queueAge,
            "pushmta_queue_age_seconds",
            .gauge,
            ["app", "lane"],
            .supervisor,
            help: "How long the oldest message without an outcome has been due, claimed or not.",
            action: "See the runbook of PushmtaQueueOld."
        ),
        .init(
            .circuit,
            "pushmta_circuit_state",
            .gauge,
            ["app"],
            .supervisor,
            help: "0: closed. 1: open; nothing of the application is sent except occasional probes.",
            action: "See the runbook of PushmtaCircuitOpen."
        ),
        .init(
            .trouble,
            "pushmta_trouble_state",
            .gauge,
            ["app", "gateway"],
            .supervisor,
            help: "0: normal. 1: the gateway takes messages again and the rate grows. 2: it takes none and is probed.",
            action: "See the runbook of PushmtaGatewayTrouble."
        ),
        .init(
            .quota,
            "pushmta_quota_used_ratio",
            .gauge,
            ["scope", "name"],
            .supervisor,
            help: "Used share of a rate limit since the last look; scope: application, account or project.",
            action: "Near 1 while messages wait: this limit holds them back."
        ),
        .init(
            .rateHolds,
            "pushmta_rate_in_use",
            .gauge,
            ["app"],
            .supervisor,
            help: """
                1 while a rate limit of a delivery, the application or its account holds back messages of the \
                application.
                """,
            action: "These messages wait on purpose: PushmtaBulkQueueOld does not fire."
        ),
        .init(
            .credentialExpiry,
            "pushmta_credential_expiry_seconds",
            .gauge,
            ["app"],
            .supervisor,
            help: """
                Seconds until the application's credential expires; negative when it has expired. Keys without an \
                expiry have no sample.
                """,
            action: "See the runbook of PushmtaCredentialExpires."
        ),
        .init(
            .feedbackActing,
            "pushmta_feedback_workers_acting",
            .gauge,
            [],
            .supervisor,
            help: "1 if a feedback worker acts on any host, else 0.",
            action: "See the runbook of PushmtaNoFeedbackWorker."
        ),
        .init(
            .tokenEventAge,
            "pushmta_token_event_age_seconds",
            .gauge,
            [],
            .supervisor,
            help: "How long the oldest token event has been waiting; 0 if none waits.",
            action: "Hours: see the runbook of PushmtaNoFeedbackWorker."
        ),
        .init(
            .retentionHolds,
            "pushmta_retention_holds",
            .gauge,
            [],
            .supervisor,
            help: "Items so far beyond their retention time that their deletion is held back for a day.",
            action: "See the runbook of PushmtaRetentionHeld."
        ),
        .init(
            .eventLag,
            "pushmta_event_lag_seconds",
            .gauge,
            [],
            .supervisor,
            help: "How long ago the consumer of events that is furthest behind had read everything; 0 if all have.",
            action: "Hours: see the runbook of PushmtaEventsWait."
        ),
        .init(
            .replicationLag,
            "pushmta_replication_lag_seconds",
            .gauge,
            ["replica"],
            .supervisor,
            help: """
                Lag of a replica (replay_lag), by the application_name of its connection. Needs the role \
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
            help: "Streaming replicas; sync: yes if a commit waits for it, else no. Needs the role pg_monitor.",
            action: "No sync=yes: a failover may lose the last commits."
        ),
        .init(
            .oldestSnapshot,
            "pushmta_oldest_snapshot_seconds",
            .gauge,
            [],
            .supervisor,
            help: """
                Age of the oldest transaction in this database that prevents the removal of dead rows. Other \
                roles' transactions need pg_monitor.
                """,
            action: "See the runbook of PushmtaOldSnapshot."
        ),
        .init(
            .deadRows,
            "pushmta_dead_rows",
            .gauge,
            ["table"],
            .supervisor,
            help: "Dead rows of PushMTA's tables, including their partitions.",
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
            help: "1 in the active worker, 0 in those that stand by.",
            action: "None: exactly one is active."
        ),
        .init(
            .feedbackDone,
            "pushmta_feedback_done_total",
            .counter,
            ["work"],
            .feedback,
            help: """
                Work done by this worker: token_events, outcomes (counted for statistics), hits (counted), \
                hits_loaded (from spools of its host).
                """,
            action: "All constant for hours while messages are sent: check its log."
        ),
        .init(
            .spoolFiles,
            "pushmta_spool_files",
            .gauge,
            [],
            .feedback,
            help: "Spools of this host's web processes that wait to be loaded.",
            action: "See the runbook of PushmtaSpoolFills."
        ),
        .init(
            .waitingSpoolBytes,
            "pushmta_spool_waiting_bytes",
            .gauge,
            [],
            .feedback,
            help: "Total size of these spools.",
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
            help: "1 if /health/ready returns 200.",
            action: "/health/ready says why not."
        ),
        .init(
            .webRequests,
            "pushmta_web_requests_total",
            .counter,
            ["endpoint", "code"],
            .web,
            help: """
                Responses by endpoint (tracking, register_ios, register_android, api, health, test, other) and \
                status.
                """,
            action: "5xx: see the runbook of PushmtaWebErrors."
        ),
        .init(
            .registrations,
            "pushmta_registrations_total",
            .counter,
            ["result"],
            .web,
            help: """
                Registrations: created, updated, disabled (opted out), unproven (without the proof that their \
                service requires), cut (with more undeclared values than are kept), unknown_zone (with a time zone that \
                PostgreSQL does not know, which is not stored), unknown_category (names of categories that changed \
                nothing).
                """,
            action: """
                unproven grows: a client registers for others, or an app lacks the proof. cut: declare what the app sends. \
                unknown_zone: see what the app sends as timeZone. unknown_category: compare what the app sends with \
                pushmta category list.
                """
        ),
        .init(
            .hits,
            "pushmta_hits_total",
            .counter,
            ["result"],
            .web,
            help: """
                Tracking hits: stored, spooled (to disk), loaded (from disk). Dropped hits: malformed, forged, \
                foreign, expired.
                """,
            action: "forged grows: a client is guessing ids."
        ),
        .init(
            .webLimited,
            "pushmta_web_limited_total",
            .counter,
            ["reason"],
            .web,
            help: "Refused requests or connections: rate (of an address), crowded (too many at once from a client).",
            action: "If real devices are among them, raise web.limits.*, or set web.limits.trustedProxies."
        ),
        .init(
            .webWaiting,
            "pushmta_web_waiting",
            .gauge,
            ["kind"],
            .web,
            help: "Registrations and hits waiting for their transaction.",
            action: "Thousands: the database is slow."
        ),
        .init(
            .spoolBytes,
            "pushmta_spool_bytes",
            .gauge,
            [],
            .web,
            help: "Size of the hits on disk.",
            action: "See the runbook of PushmtaSpoolFills."
        ),
        .init(
            .spoolCapacity,
            "pushmta_spool_capacity_bytes",
            .gauge,
            [],
            .web,
            help: "Maximum size of the spools (web.tracking.maxSpoolMb).",
            action: "None."
        ),
        .init(
            .unreadableApplications,
            "pushmta_web_unreadable_applications",
            .gauge,
            [],
            .web,
            help: "Applications whose declarations cannot be read; their devices get 503.",
            action: "The log names them."
        ),
        .init(
            .webCertificateExpiry,
            "pushmta_web_certificate_expiry_seconds",
            .gauge,
            [],
            .web,
            help: "Seconds until the certificate of web.tlsPort expires; no sample without one.",
            action: "See the runbook of PushmtaWebCertificateExpires."
        ),
    ]
}
