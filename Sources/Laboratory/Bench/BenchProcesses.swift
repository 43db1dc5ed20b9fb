import Administration
import ProcessProtocol

/// The resource usage of a bench's processes.
struct BenchProcesses: Sendable {
    let site: TestSite

    private var supervisors: [ProcessRecord] { ([site.host] + site.others).compactMap(\.supervisor.running) }

    /// The CPU time used so far, by kind of process, including processes that have ended.
    func cpuSeconds() -> [(name: String, seconds: Double)] {
        var uses: [(String, Double)] = []
        if let simulator = site.simulator.running { uses.append(("simulator", simulator.cpuSeconds)) }
        if !supervisors.isEmpty {
            uses.append(("supervisor", supervisors.reduce(0) { $0 + $1.cpuSeconds }))
            let children = supervisors.reduce(0) { sum, supervisor in
                ProcessRecord.family(of: supervisor.id).filter { $0.id != supervisor.id }
                    .reduce(sum + supervisor.endedChildrenCPUSeconds) { $0 + $1.cpuSeconds }
            }
            uses.append(("children", children))
        }
        uses += serverUses
        return uses
    }

    /// The CPU time used since an earlier reading.
    func cpuSeconds(since before: [(name: String, seconds: Double)]) -> [(name: String, seconds: Double)] {
        cpuSeconds().map { use in (use.name, use.seconds - (before.first { $0.name == use.name }?.seconds ?? 0)) }
    }

    /// The maximum resident memory of a supervisor's child, in bytes.
    func peakChildResidentBytes() -> Int64 {
        let children = supervisors.flatMap { ProcessRecord.family(of: $0.id) }.filter {
            $0.commandLine.contains(" \(ChildArguments.command) ")
        }
        return children.compactMap(\.peakResidentBytes).max() ?? 0
    }

    /// The server's processes: backends, which serve a connection, and the others (WAL writer, checkpointer,
    /// autovacuum, …).
    private var serverUses: [(String, Double)] {
        guard let id = site.cluster.processID, let server = ProcessRecord(id) else { return [] }
        let family = ProcessRecord.family(of: id)
        // The title of a backend is "postgres: USER DATABASE [local] …".
        let serving = family.filter { $0.commandLine.contains("[local]") }
        let others = family.filter { !$0.commandLine.contains("[local]") }
        return [
            ("postgres backends", serving.reduce(server.endedChildrenCPUSeconds) { $0 + $1.cpuSeconds }),
            ("postgres background", others.reduce(0) { $0 + $1.cpuSeconds }),
        ]
    }
}
