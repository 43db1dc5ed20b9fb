import Store

/// Feedback workers as a table; columns are named as in the view `pushmta.feedback_worker` where the thing is the same.
enum FeedbackTable {
    /// The table of some workers.
    static func table(_ workers: [FeedbackWorkerRow]) -> Table {
        var table = Table([
            "worker", "host", "pid", "version", "state", "beat_age", "last_action", "token_events", "messages_counted",
            "hits_counted", "hits_loaded", "waiting_spools",
        ])
        for worker in workers {
            table.add([
                .text(worker.id), .text(worker.host), Cell(worker.pid), .text(worker.version), .text(worker.state),
                .number(worker.beatAgeSeconds), .text(worker.lastAction), .integer(worker.tokenEvents),
                .integer(worker.messagesCounted), .integer(worker.hitsCounted),
                .integer(worker.hitsLoaded), Cell(worker.waitingSpools),
            ])
        }
        return table
    }
}
