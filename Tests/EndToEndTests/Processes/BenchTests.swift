import Foundation
import PushCore
import Testing

@testable import Laboratory

/// Small runs of the benchmarks: their counts are right, and they lose nothing.
@Suite struct BenchTests {
    private func site(hosts: Int = 1) throws -> (TestSite, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        return (try TestSite(folder: folder.path + "/site", programs: beside, hosts: hosts), folder)
    }

    @Test func sessionsSendMessagesOneByOneAndMany() async throws {
        for batch in [1, 10] {
            let (site, folder) = try site()
            defer { withExtendedLifetime(folder) {} }
            let report = try await MessageBench(
                site: site,
                messages: 105,
                sessions: 4,
                batch: batch,
                pause: .zero,
                bulk: 0,
                latency: "10",
                children: 1
            ).run()
            #expect(report.isComplete, "\(report.text)")
            #expect(report.calls.count == (batch == 1 ? 105 : 12))
            #expect(report.rate > 0 && report.afterLastCommit < 60)
        }
    }

    @Test func twoHostsShareAQuota() async throws {
        let (site, folder) = try site(hosts: 2)
        defer { withExtendedLifetime(folder) {} }
        let report = try await DeliveryBench(
            site: site,
            database: nil,
            messages: 3_000,
            route: .usual(.android),
            isEqual: false,
            errorEvery: nil,
            latency: "20",
            children: 1,
            quota: 600_000,
            readers: 0,
            isAnalysed: false
        ).run()
        #expect(report.isComplete, "\(report.text)")
        #expect(report.hosts == 2 && report.quota == 600_000 && report.count.rejected == 0)
    }

    @Test func aFilterChoosesAFifth() async throws {
        let (site, folder) = try site()
        defer { withExtendedLifetime(folder) {} }
        let report = try await PrepareBench(site: site, subscriptions: 56_000).run()
        #expect(report.target == 11_000)
        #expect(report.isComplete && report.seconds > 0 && report.walBytes > 0)
    }

    @Test func theFirstMessageOfAnAnalysedDeliveryIsTimed() async throws {
        let (site, folder) = try site()
        defer { withExtendedLifetime(folder) {} }
        let report = try await ReleaseBench(site: site, messages: 3_000, rounds: 1).run()
        #expect(report.isComplete, "\(report.text)")
        #expect(report.starts.map(\.target) == [3_000, 3_000])
        // The call may return after the first message has left.
        #expect(report.starts.allSatisfy { $0.firstMilliseconds > -1 && $0.analysisSeconds > 0 })
    }

    @Test func whatWrkPrintsIsRead() throws {
        let output = """
            Running 8s test @ http://127.0.0.1:8080/
              1 threads and 256 connections
              Thread Stats   Avg      Stdev     Max   +/- Stdev
                Latency     8.81ms    3.43ms  61.05ms   78.09%
              Latency Distribution
                 50%  812.00us
                 75%    9.93ms
                 99%    1.02s
              233280 requests in 8.01s, 37.16MB read
              Socket errors: connect 0, read 1, write 0, timeout 2
              Non-2xx or 3xx responses: 12
            Requests/sec:  29122.35
            Transfer/sec:      4.64MB
            """
        let row = try WebBenchReport.Row(name: "tracking", wrk: output)
        #expect(row.rate == 29_122.35 && row.p50 == 0.812 && row.p99 == 1_020 && row.failed == 15)
        #expect(throws: (any Error).self) { try WebBenchReport.Row(name: "tracking", wrk: "unable to connect") }
    }

    @Test func theChartHasABarForEachFigure() async throws {
        var report = BenchAllReport(machine: try await BenchMachine.this())
        report.add("APNs", 1_234_567, "messages/s", "", true)
        report.add("FCM", 617_283, "messages/s", "", true)
        #expect(report.chart.contains("1,234,567 messages/s"))
        #expect(report.chart.components(separatedBy: "<rect").count == 3)
        #expect(report.isComplete && report.text.contains("APNs"))
    }
}
